// Tiles: samples side by side, one in each lane of vector registers.
#pragma once

#include <cstdint>

namespace lloyd_openmp {

/// Samples of a tile.
inline constexpr std::int64_t kTile = 64;

/// One feature of the samples of a tile.
template <class Real>
struct alignas(64) TileRow {
  Real lanes[kTile];
};

}  // namespace lloyd_openmp
