// ChunkPlan: splits the rows of a pass for the device and the CPU threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

namespace lloyd_cuda_hybrid {

/// The device labels rows chunk by chunk; each chunk is split into blocks, which a CPU thread sums.
class ChunkPlan {
 public:
  ChunkPlan() = default;
  /// `chunk` rows per chunk (0: chosen from the number of rows), for `threads` threads.
  ChunkPlan(lloyd::RowRange rows, std::int64_t chunk, int threads)
      : rows_(rows),
        chunk_rows_(chunk_rows(rows.size(), chunk)),
        block_rows_(std::min(chunk_rows_, block_rows(rows.size(), threads))),
        blocks_per_chunk_(ceiling(chunk_rows_, block_rows_)) {}

  /// Maximum rows of a chunk for up to `rows` rows.
  static std::int64_t largest_chunk(std::int64_t rows, std::int64_t chunk) {
    return std::min(rows, chunk_rows(rows, chunk));
  }

  /// Number of chunks.
  std::int64_t chunks() const { return ceiling(rows_.size(), chunk_rows_); }
  /// Rows of a chunk.
  lloyd::RowRange chunk(std::int64_t index) const {
    const std::int64_t begin = rows_.begin + index * chunk_rows_;
    return {begin, std::min(begin + chunk_rows_, rows_.end)};
  }
  /// The chunk of a row.
  std::int64_t chunk_of(std::int64_t row) const { return (row - rows_.begin) / chunk_rows_; }

  /// Number of blocks in the first `chunks` chunks.
  std::int64_t blocks_of(std::int64_t chunks) const {
    if (chunks < this->chunks()) return chunks * blocks_per_chunk_;
    const std::int64_t whole = rows_.size() / chunk_rows_;
    return whole * blocks_per_chunk_ + ceiling(rows_.size() % chunk_rows_, block_rows_);
  }
  /// Rows of a block; blocks are numbered across all chunks.
  lloyd::RowRange block(std::int64_t index) const {
    const lloyd::RowRange rows = chunk(index / blocks_per_chunk_);
    const std::int64_t begin = rows.begin + index % blocks_per_chunk_ * block_rows_;
    return {begin, std::min(begin + block_rows_, rows.end)};
  }

 private:
  static std::int64_t ceiling(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit;
  }

  // Several chunks, so that summation starts early and copies overlap with it; but none so small
  // that its kernel launch takes longer than its summation.
  static std::int64_t chunk_rows(std::int64_t rows, std::int64_t chunk) {
    return chunk > 0 ? chunk : std::clamp<std::int64_t>(ceiling(rows, 8), 32768, 262144);
  }
  // Enough blocks to balance the load; but none so small that scheduling it costs more than its
  // work.
  static std::int64_t block_rows(std::int64_t rows, int threads) {
    return std::clamp<std::int64_t>(rows / (8 * threads), 512, 16384);
  }

  lloyd::RowRange rows_;
  std::int64_t chunk_rows_ = 1;
  std::int64_t block_rows_ = 1;
  std::int64_t blocks_per_chunk_ = 1;
};

}  // namespace lloyd_cuda_hybrid
