// Shared by the fuzz targets of data files that can be read in blocks.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>

#include "fuzz.hpp"

namespace lloyd::fuzz {

template <class T>
void expect_same_values(const Dataset& dataset, const RowSource& rows) {
  std::vector<T> row(static_cast<std::size_t>(rows.features()));
  for (std::int64_t i = 0; i < rows.samples(); ++i) {
    rows.read({i, i + 1}, row.data());
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double value = dataset.matrix().at(i, static_cast<std::int64_t>(j));
      const double read = row[j];
      require(std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(read),
              "a file has other values when it is read in blocks");
    }
  }
}

/// Requires that a file has the same shape, type and values when it is read row by row.
inline void expect_same_rows(const Dataset& dataset, const RowSource& rows) {
  require(rows.samples() == dataset.samples() && rows.features() == dataset.features(),
          "a file has another shape when it is read in blocks");
  require(rows.dtype() == dataset.dtype(), "a file has another type when it is read in blocks");
  if (rows.dtype() == DType::float32) {
    expect_same_values<float>(dataset, rows);
  } else {
    expect_same_values<double>(dataset, rows);
  }
}

}  // namespace lloyd::fuzz
