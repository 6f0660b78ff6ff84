#include "conformance/support/samples.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace lloyd::conformance {

std::uint64_t Numbers::bits() {
  // Source: G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number
  // generators", 2014.
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double Numbers::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

std::int64_t Numbers::integer(std::int64_t low, std::int64_t high) {
  const auto span = static_cast<std::uint64_t>(high - low + 1);
  return low + static_cast<std::int64_t>(bits() % span);
}

Samples lattice(std::int64_t n, std::int64_t d, std::int64_t extent, std::uint64_t seed) {
  Numbers numbers(seed);
  Samples samples{n, d, {}};
  for (std::int64_t at = 0; at < n * d; ++at) {
    samples.values.push_back(static_cast<double>(numbers.integer(-extent, extent)));
  }
  return samples;
}

Samples blobs(std::int64_t n, std::int64_t d, std::int64_t centers, double radius,
              std::uint64_t seed) {
  Numbers numbers(seed);
  std::vector<double> means;
  for (std::int64_t at = 0; at < centers * d; ++at) means.push_back(20 * numbers.uniform() - 10);
  Samples samples{n, d, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < d; ++j) {
      const double noise = numbers.uniform() + numbers.uniform() - 1;
      samples.values.push_back(means[(i % centers) * d + j] + radius * noise);
    }
  }
  return samples;
}

Samples cloud(std::int64_t n, std::int64_t d, std::uint64_t seed) {
  return blobs(n, d, 1, 4.0, seed);
}

Samples wide_range(std::int64_t n, std::int64_t d, double reach, std::uint64_t seed) {
  Numbers numbers(seed);
  const int powers = std::ilogb(reach);
  Samples samples{n, d, {}};
  for (std::int64_t at = 0; at < n * d; ++at) {
    const auto power = static_cast<int>(numbers.integer(-powers, powers));
    samples.values.push_back(std::ldexp(2 * numbers.uniform() - 1, power));
  }
  return samples;
}

Samples transformed(Samples samples, double scale, double offset) {
  for (double& value : samples.values) value = value * scale + offset;
  return samples;
}

Samples rounded(Samples samples, DType dtype) {
  if (dtype == DType::float32) {
    for (double& value : samples.values) value = static_cast<float>(value);
  }
  return samples;
}

std::vector<double> first_rows(const Samples& samples, std::int64_t k) {
  return {samples.values.begin(), samples.values.begin() + k * samples.d};
}

Samples selected(const Samples& samples, const std::vector<std::int64_t>& rows) {
  Samples result{static_cast<std::int64_t>(rows.size()), samples.d, {}};
  for (const std::int64_t i : rows) {
    result.values.insert(result.values.end(), samples.row(i), samples.row(i) + samples.d);
  }
  return result;
}

namespace {

template <class T>
Matrix make_matrix(const Samples& samples, DType dtype, Layout layout) {
  constexpr std::align_val_t kAlignment{64};
  const std::int64_t stride = samples.d + layout.gap;
  const std::int64_t size = layout.offset + (samples.n - 1) * stride + samples.d;
  const auto bytes = static_cast<std::size_t>(size) * sizeof(T);
  auto* values = static_cast<T*>(::operator new(bytes, kAlignment));
  Matrix matrix;
  matrix.storage = std::shared_ptr<const void>(
      values, [](const void* p) { ::operator delete(const_cast<void*>(p), kAlignment); });
  for (std::int64_t at = 0; at < size; ++at) values[at] = std::numeric_limits<T>::quiet_NaN();
  T* first = values + layout.offset;
  for (std::int64_t i = 0; i < samples.n; ++i) {
    for (std::int64_t j = 0; j < samples.d; ++j) {
      first[i * stride + j] = static_cast<T>(samples.row(i)[j]);
    }
  }
  matrix.data = first;
  matrix.rows = samples.n;
  matrix.columns = samples.d;
  matrix.stride = stride;
  matrix.dtype = dtype;
  return matrix;
}

}  // namespace

Dataset make_dataset(const Samples& samples, DType dtype, Layout layout) {
  return Dataset("conformance", dtype == DType::float32
                                    ? make_matrix<float>(samples, dtype, layout)
                                    : make_matrix<double>(samples, dtype, layout));
}

}  // namespace lloyd::conformance
