// Tiles: kTile samples stored feature by feature, one sample per SIMD lane.
#pragma once

#include <cstdint>

#include "common/instruction_set.hpp"

namespace lloyd_openmp {

/// Number of samples in a tile.
inline constexpr std::int64_t kTile = 64;

/// Bit i is set for each lane i < count; `count`: 0 to kTile.
constexpr std::uint64_t lane_mask(std::int64_t count) {
  return count < kTile ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

/// One value for each sample of a tile. A tile of d features is an array of d of these.
template <class Real>
struct alignas(64) TileVector {
  Real lanes[kTile];
};

/// Copies `rows` (1 to kTile) samples of d features, `stride` values apart, minus `origin` (d
/// values) into a tile of d vectors. Unused lanes get unspecified finite values.
template <class T, class Real>
void load_tile(InstructionSet set, const T* samples, std::int64_t stride, std::int64_t rows,
               std::int64_t d, const Real* origin, TileVector<Real>* tile);

/// load_tile() for `count` (1 to kTile) samples, given their row numbers. Unused lanes are not
/// written.
template <class T, class Real>
void gather_tile(const T* samples, std::int64_t stride, const std::int64_t* rows,
                 std::int64_t count, std::int64_t d, const Real* origin, TileVector<Real>* tile) {
  for (std::int64_t lane = 0; lane < count; ++lane) {
    const T* sample = samples + rows[lane] * stride;
    for (std::int64_t j = 0; j < d; ++j) {
      tile[j].lanes[lane] = static_cast<Real>(sample[j]) - origin[j];
    }
  }
}

}  // namespace lloyd_openmp
