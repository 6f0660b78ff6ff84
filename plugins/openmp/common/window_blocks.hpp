// Splits a window of rows into blocks. Large blocks come first: each block ends with partly filled
// tiles of gathered rows, so fewer blocks have fewer of these. Later blocks shrink, because threads
// wait for the last block of a window.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/types.hpp>

#include "common/tile.hpp"

namespace lloyd_openmp {

/// The end of each block of `window`. A block takes 1 / (2 `threads`) of the remaining rows, in
/// whole tiles: at most 1 MiB, so that rows that a thread loaded are still in its L2 when it
/// screens them, but at least 512 rows, unless fewer are left. `row_bytes`: bytes of a row.
inline std::vector<std::int64_t> window_block_ends(lloyd::RowRange window, int threads,
                                                   std::int64_t row_bytes) {
  constexpr std::int64_t kMinRows = 512;
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 20;
  const std::int64_t max_rows = std::max(kMinRows, kMaxBytes / row_bytes);
  std::vector<std::int64_t> ends;
  for (std::int64_t begin = window.begin; begin < window.end;) {
    const std::int64_t share = (window.end - begin) / (2 * threads);
    begin += std::clamp(share, kMinRows, max_rows) / kTile * kTile;
    ends.push_back(std::min(begin, window.end));
  }
  return ends;
}

}  // namespace lloyd_openmp
