// ChunkPlan: how the rows of a pass are cut for the device and for the CPU's threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include <lloyd/plugin/dataset_view.hpp>

namespace lloyd_cuda_hybrid {

/// Rows are cut into chunks, which the device labels one by one, and those into blocks, which a
/// thread adds up.
class ChunkPlan {
 public:
  ChunkPlan() = default;
  /// `chunk` rows at a time (0: chosen from the number of rows), for so many threads.
  ChunkPlan(lloyd::RowRange rows, std::int64_t chunk, int threads)
      : rows_(rows),
        chunk_rows_(chunk_rows(rows.size(), chunk)),
        block_rows_(std::min(chunk_rows_, block_rows(rows.size(), threads))),
        blocks_per_chunk_(ceiling(chunk_rows_, block_rows_)) {}

  /// The most rows of any chunk of up to `rows` rows.
  static std::int64_t largest_chunk(std::int64_t rows, std::int64_t chunk) {
    return std::min(rows, chunk_rows(rows, chunk));
  }

  /// How many there are.
  std::int64_t chunks() const { return ceiling(rows_.size(), chunk_rows_); }
  /// Rows of one of them.
  lloyd::RowRange chunk(std::int64_t index) const {
    const std::int64_t begin = rows_.begin + index * chunk_rows_;
    return {begin, std::min(begin + chunk_rows_, rows_.end)};
  }
  /// The chunk that a row is in.
  std::int64_t chunk_of(std::int64_t row) const { return (row - rows_.begin) / chunk_rows_; }

  /// How many blocks there are in the first so many chunks.
  std::int64_t blocks_of(std::int64_t chunks) const {
    if (chunks < this->chunks()) return chunks * blocks_per_chunk_;
    const std::int64_t whole = rows_.size() / chunk_rows_;
    return whole * blocks_per_chunk_ + ceiling(rows_.size() % chunk_rows_, block_rows_);
  }
  /// Rows of a block; blocks are numbered through all chunks.
  lloyd::RowRange block(std::int64_t index) const {
    const lloyd::RowRange rows = chunk(index / blocks_per_chunk_);
    const std::int64_t begin = rows.begin + index % blocks_per_chunk_ * block_rows_;
    return {begin, std::min(begin + block_rows_, rows.end)};
  }

 private:
  static std::int64_t ceiling(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit;
  }

  // Several chunks, so that adding up begins early and copies are hidden; none so small that
  // launching its kernel takes longer than adding it up.
  static std::int64_t chunk_rows(std::int64_t rows, std::int64_t chunk) {
    return chunk > 0 ? chunk : std::clamp<std::int64_t>(ceiling(rows, 8), 32768, 262144);
  }
  // Enough blocks to balance the load, none so small that handing it out costs more than it takes.
  static std::int64_t block_rows(std::int64_t rows, int threads) {
    return std::clamp<std::int64_t>(rows / (8 * threads), 512, 16384);
  }

  lloyd::RowRange rows_;
  std::int64_t chunk_rows_ = 1;
  std::int64_t block_rows_ = 1;
  std::int64_t blocks_per_chunk_ = 1;
};

}  // namespace lloyd_cuda_hybrid
