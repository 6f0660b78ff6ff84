// What is done with bounds of many samples, vectorised for the machine at hand.
#pragma once

#include <cstdint>
#include <limits>

#include "bounds.hpp"
#include "instruction_set.hpp"
#include "tile_labels.hpp"

namespace lloyd_openmp {

/// Bounds as they are stored: bounds.hpp.
struct StoredBounds {
  float* upper;
  float* lower;
};

/// Bounds of a sample that settle nothing, whatever its label is.
inline void reset_bounds(StoredBounds bounds) {
  *bounds.upper = std::numeric_limits<float>::infinity();
  *bounds.lower = -std::numeric_limits<float>::infinity();
}

/// Bit i: the bounds of sample i of kTile do not prove that its label stands. `labels`: kTile.
std::uint64_t find_open(InstructionSet set, const std::int32_t* labels, StoredBounds bounds,
                        const CentroidDrift& drift);

/// Stores kTile bounds; forgets those of sample i where bit i of `unproven` is set.
void store_bounds(InstructionSet set, const TileLabels& nearest, std::uint64_t unproven,
                  const CentroidDrift& drift, StoredBounds bounds);

/// Squared distances of `count` samples, `stride` values apart, to their centroids, in float64,
/// added up in any order. `rows`: which samples; labels[row]: which of the centroids (k x d).
template <class T>
void measure_distances(InstructionSet set, const T* samples, std::int64_t stride, std::int64_t d,
                       const std::int64_t* rows, std::int64_t count, const std::int32_t* labels,
                       const double* centroids, double* squared);

}  // namespace lloyd_openmp
