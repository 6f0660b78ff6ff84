// Rows of a matrix spread over ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <lloyd/data/row_source.hpp>
#include <lloyd/data/row_views.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/plugin/abi/communicator.hpp>

namespace lloyd {

/// Bounds of uneven ranges of rows, ranks + 1 of them; some ranges are empty.
inline std::vector<std::int64_t> random_bounds(std::int64_t rows, int ranks, std::mt19937& random) {
  std::vector<std::int64_t> bounds = {0, rows};
  std::uniform_int_distribution<std::int64_t> row(0, rows);
  while (static_cast<int>(bounds.size()) < ranks + 1) {
    bounds.push_back(random() % 3 == 0 ? bounds.back() : row(random));
  }
  std::sort(bounds.begin(), bounds.end());
  return bounds;
}

/// The part of this rank: rows [bounds[rank], bounds[rank + 1]).
inline Dataset part_of(const Matrix& matrix, const std::vector<std::int64_t>& bounds,
                       const std::shared_ptr<Communicator>& communicator) {
  const auto rank = static_cast<std::size_t>(communicator->rank());
  Matrix part = matrix;
  part.rows = bounds[rank + 1] - bounds[rank];
  part.data = part.rows == 0 ? nullptr
                             : static_cast<const char*>(matrix.data) +
                                   bounds[rank] * matrix.stride * size_of(matrix.dtype);
  return Dataset::part("points", part, communicator);
}

/// The same rows, read in blocks of `block_rows`; a rank without rows has none in memory.
inline Dataset streamed_part_of(const Matrix& matrix, const std::vector<std::int64_t>& bounds,
                                const std::shared_ptr<Communicator>& communicator,
                                std::int64_t block_rows) {
  const auto rank = static_cast<std::size_t>(communicator->rank());
  const RowRange rows{bounds[rank], bounds[rank + 1]};
  if (rows.size() == 0) return part_of(matrix, bounds, communicator);
  return Dataset::part(select_rows(rows_of("points", matrix), rows), block_rows, communicator);
}

}  // namespace lloyd
