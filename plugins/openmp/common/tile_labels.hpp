// TileLabels: the result of screening one tile.
#pragma once

#include <cstdint>

#include "common/tile.hpp"

namespace lloyd_openmp {

/// Distance bounds of the samples of a tile, not squared. Rounded outward, so that they hold in
/// spite of rounding: docs/design/openmp/exactness.md, section 5.
struct TileBounds {
  alignas(64) float upper[kTile];  ///< >= distance to the centroid of the label
  alignas(64) float lower[kTile];  ///< <= distance to any other centroid; at most FLT_MAX / 2
};

/// Labels of the samples of a tile. Ties go to the lowest index.
struct TileLabels {
  alignas(64) std::int32_t labels[kTile];
  std::uint64_t unproven;        ///< bit i: the label of sample i is not proven
  std::uint64_t changed;         ///< bit i: the label of sample i differs from the former one
  TileBounds* bounds = nullptr;  ///< bounds of proven labels; null: not wanted
};

}  // namespace lloyd_openmp
