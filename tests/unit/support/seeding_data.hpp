// Data sets of the seeding tests.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/random.hpp>

namespace lloyd {

using Indices = std::vector<std::int64_t>;

inline constexpr std::int64_t kRows = 20, kColumns = 3;

/// Small integers, all rows distinct, times a scale.
template <class T>
std::vector<T> lattice_values(std::int64_t rows, double scale) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < kColumns; ++j) {
      values.push_back(static_cast<T>(scale * static_cast<double>((i * i + 7 * j * i + j) % 29)));
    }
  }
  return values;
}

template <class T = float>
Dataset lattice(std::int64_t rows = kRows, double scale = 1) {
  return Dataset("lattice", Matrix::from_values(lattice_values<T>(rows, scale), rows, kColumns));
}

/// Uniform in (0, 1).
template <class T>
Dataset scattered(std::int64_t n, std::int64_t d) {
  const RandomStream stream(11, 12);
  std::vector<T> values;
  for (std::int64_t i = 0; i < n * d; ++i) {
    values.push_back(static_cast<T>(stream.uniform(static_cast<std::uint64_t>(i))));
  }
  return Dataset("scattered", Matrix::from_values(std::move(values), n, d));
}

}  // namespace lloyd
