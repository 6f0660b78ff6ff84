// Screens samples row by row, vectorised along the features, without transposing them into a tile.
// For few centroids of many features: the centroids stay in L1, and copying samples into tiles
// would dominate.
#pragma once

#include <cstdint>

#include "common/score_limit.hpp"
#include "common/tile.hpp"
#include "common/tile_labels.hpp"

namespace lloyd_openmp {

/// d rounded up to whole cache lines of float32.
constexpr std::int64_t padded_features(std::int64_t d) {
  return (d + 15) / 16 * 16;
}

/// k centroids of d features relative to an origin, packed for screen_rows().
struct RowCentroids {
  const float* squared_norms;  ///< k values
  /// -2 e, one row of padded_features(d) values per centroid, 64-byte aligned.
  const float* factors;
  const float* origin;    ///< d values
  std::int64_t clusters;  ///< 1 to kMaxRowClusters
  ScoreLimit<float> limit;
};

/// Maximum number of roundings that a product passes through on its way into a score.
std::int64_t row_chain_length(InstructionSet set, std::int64_t d);

/// Limits of screen_rows().
inline constexpr std::int64_t kMinRowFeatures = 16;
inline constexpr std::int64_t kMaxRowClusters = 32;

/// Rows that are screened together, and the distance between them in rows. The hardware prefetcher
/// follows two streams only if they are in different pages (docs/design/openmp/screens.md).
inline constexpr std::int64_t kInterleavedRows = 2;
inline constexpr std::int64_t kInterleaveStride = kTile / kInterleavedRows;

/// The data set row that screen_rows() expects in samples[lane], 0 <= lane < kTile +
/// kInterleavedRows, for a tile that begins at row `begin`.
constexpr std::int64_t interleaved_row(std::int64_t begin, std::int64_t lane) {
  return begin + (lane < kTile ? lane : kTile + (lane - kTile) * kInterleaveStride);
}

/// Screens kTile samples of d >= kMinRowFeatures features. `samples`: pointers to them and to the
/// kInterleavedRows next ones, which are prefetched; duplicates are allowed. `former`: kTile
/// labels.
void screen_rows(InstructionSet set, const float* const* samples, std::int64_t d,
                 const RowCentroids& centroids, const std::int32_t* former, TileLabels& nearest);

}  // namespace lloyd_openmp
