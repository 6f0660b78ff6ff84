// Vector kernels over the bounds of a tile.
#pragma once

#include <cstdint>
#include <limits>

#include "bounds/bounds.hpp"
#include "common/instruction_set.hpp"
#include "common/tile_labels.hpp"

namespace lloyd_openmp {

/// Bounds in stored form (bounds.hpp).
struct StoredBounds {
  float* upper;
  float* lower;
};

/// Sets the bounds of a sample to values that prove nothing, whatever its label is.
inline void reset_bounds(StoredBounds bounds) {
  *bounds.upper = std::numeric_limits<float>::infinity();
  *bounds.lower = -std::numeric_limits<float>::infinity();
}

/// Bit i: the bounds of sample i do not prove that its label is unchanged. `labels`: kTile values.
std::uint64_t find_open(InstructionSet set, const std::int32_t* labels, StoredBounds bounds,
                        const CentroidDrift& drift);

/// Stores kTile bounds; resets those of the samples in the mask `unproven`.
void store_bounds(InstructionSet set, const TileLabels& nearest, std::uint64_t unproven,
                  const CentroidDrift& drift, StoredBounds bounds);

/// Squared distances of `count` samples to their own centroids in float64, in any order of
/// summation. `rows`: numbers of the samples, `stride` values apart; labels[row]: index in
/// `centroids` (k x d).
template <class T>
void measure_distances(InstructionSet set, const T* samples, std::int64_t stride, std::int64_t d,
                       const std::int64_t* rows, std::int64_t count, const std::int32_t* labels,
                       const double* centroids, double* squared);

}  // namespace lloyd_openmp
