// RowBlocks: iterates over rows that are not in memory, block by block, reading ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <lloyd/data/row_source.hpp>

namespace lloyd {

/// Receives consecutive rows and their values, row-major without gaps.
using BlockBody = std::function<void(RowRange rows, const void* data)>;
/// Calls a body for blocks that cover some rows of a data set in ascending order.
using ReadBlocks = std::function<void(RowRange rows, const BlockBody& body)>;

/// Reads rows of a source. InputError and Cancelled are passed on; any other exception of the
/// source becomes an InputError that names the rows and the source.
void read_block(const RowSource& source, RowRange rows, void* values);

/// Rows of a block of about 4 MiB, for work without a memory plan; at least 1.
std::int64_t usual_block_rows(const RowSource& source);
/// Rows of a block of 64 KiB, at least 1. The cost of smaller blocks exceeds that of their values.
std::int64_t min_block_rows(const RowSource& source);

class RowBlocks {
 public:
  /// Holds two blocks of `block_rows` rows (>= 1), or one of all rows if the source has no more.
  /// `source` must outlive this object. Throws InputError for block_rows < 1.
  RowBlocks(const RowSource& source, std::int64_t block_rows);

  /// Calls `body` for blocks that cover `rows` in ascending order, while a second thread reads the
  /// next block. Throws what the source or `body` throws.
  void for_each(RowRange rows, const BlockBody& body);
  void for_each(const BlockBody& body) { for_each({0, source_.samples()}, body); }

 private:
  const RowSource& source_;
  std::int64_t block_rows_;
  std::unique_ptr<std::byte[]> buffers_[2];
};

}  // namespace lloyd
