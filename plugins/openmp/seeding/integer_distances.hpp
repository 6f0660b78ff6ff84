// Screens squared distances of a tile of 16-bit integers to a few centroids. Memory traffic limits
// the passes of k-means++, and 16-bit integers need half as much of it as float32 samples.
#pragma once

#include <cstdint>

#include "screens/integer_screen.hpp"

namespace lloyd_openmp {

/// Screens the first `rows` (1 to kTile) samples of a tile whose unit is at least E/Q. If bit i of
/// below[c] is clear, the squared distance of sample i to centroid c, by the definition, is at
/// least squared_distances[i] (>= 0, or infinite). Symbols and error bound:
/// docs/design/openmp/exactness.md, section 4. `offsets`: scratch, one value per centroid.
void screen_integers_below(InstructionSet set, const IntegerTile& tile, std::int64_t rows,
                           std::int64_t d, const IntegerCentroids& centroids,
                           const double* squared_distances, std::int32_t* offsets,
                           std::uint64_t* below);

}  // namespace lloyd_openmp
