// row_range_of: a part of a matrix.
#pragma once

#include <cstdint>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// The rows begin to end - 1, in the same memory.
inline Matrix row_range_of(const Matrix& matrix, std::int64_t begin, std::int64_t end) {
  Matrix rows = matrix;
  const std::int64_t bytes = matrix.dtype == DType::float32 ? 4 : 8;
  rows.data = static_cast<const char*>(matrix.data) + begin * matrix.stride * bytes;
  rows.rows = end - begin;
  return rows;
}

}  // namespace lloyd
