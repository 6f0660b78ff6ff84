// Screens squared distances of a tile of 16-bit integers to a few centroids. Integers need half of
// the memory traffic of float32 samples, which limits the passes of k-means++.
#pragma once

#include <cstdint>

#include "screens/integer_screen.hpp"

namespace lloyd_openmp {

/// Screens the first `rows` (1 to kTile) samples of a tile whose unit is at least E/Q. Unless bit i
/// of below[c] is set, the squared distance of sample i to centroid c is, by the definition, at
/// least squared_distances[i] (>= 0, or infinite). Error bound: docs/design/openmp/exactness.md,
/// section 4. `offsets`: scratch of k values.
void screen_integers_below(InstructionSet set, const IntegerTile& tile, std::int64_t rows,
                           std::int64_t d, const IntegerCentroids& centroids,
                           const double* squared_distances, std::int32_t* offsets,
                           std::uint64_t* below);

}  // namespace lloyd_openmp
