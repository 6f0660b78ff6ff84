// WaitingRows: rows of one thread that wait until they fill a tile.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/tile.hpp"

namespace lloyd_openmp {

/// A queue of row numbers.
class WaitingRows {
 public:
  /// Adds a row. Requires fewer than kCapacity waiting rows; callers ensure this by draining full
  /// tiles after each tile of a block.
  void add(std::int64_t row) { rows_[static_cast<std::size_t>(waiting_++)] = row; }
  bool empty() const { return waiting_ == 0; }
  bool has_full_tile() const { return waiting_ >= kTile; }
  const std::int64_t* first() const { return rows_.data(); }
  /// Rows of the next tile: kTile or what is left.
  std::int64_t count() const { return std::min(kTile, waiting_); }
  /// Removes the first `count` rows.
  void drop(std::int64_t count) {
    waiting_ -= count;
    std::copy_n(rows_.data() + count, waiting_, rows_.data());
  }

 private:
  static constexpr std::int64_t kCapacity = 8 * kTile;

  std::array<std::int64_t, kCapacity> rows_;
  std::int64_t waiting_ = 0;
};

}  // namespace lloyd_openmp
