// The nearest centroids of samples as they lie in memory, vectorised along the features: for few
// centroids that stay in the first cache, where copying samples to tiles would take longest.
#pragma once

#include <cstdint>

#include "score_limit.hpp"
#include "tile.hpp"
#include "tile_labels.hpp"

namespace lloyd_openmp {

/// d, or more: whole cache lines.
constexpr std::int64_t padded_features(std::int64_t d) {
  return (d + 15) / 16 * 16;
}

/// k centroids of d features as screen_rows takes them, relative to an origin.
struct RowCentroids {
  const float* squared_norms;  ///< k
  /// -2 times the centroids, each padded_features(d) after the one before, at 64-byte boundaries.
  const float* factors;
  const float* origin;    ///< d
  std::int64_t clusters;  ///< 1 to kMaxRowClusters
  ScoreLimit<float> limit;
};

/// Most roundings that a product goes through on its way into a score, at d features.
std::int64_t row_chain_length(InstructionSet set, std::int64_t d);

/// Features and centroids that screen_rows is for.
inline constexpr std::int64_t kMinRowFeatures = 16;
inline constexpr std::int64_t kMaxRowClusters = 32;

/// Samples that are screened at once are so many apart: of two that are next to each other the
/// machine reads ahead in neither.
inline constexpr std::int64_t kInterleavedRows = 2;
inline constexpr std::int64_t kInterleaveStride = kTile / kInterleavedRows;

/// Which sample of a data set screen_rows() takes for its sample `lane` (0 to kTile +
/// kInterleavedRows - 1) of a tile from sample `begin` on.
constexpr std::int64_t interleaved_row(std::int64_t begin, std::int64_t lane) {
  return begin + (lane < kTile ? lane : kTile + (lane - kTile) * kInterleaveStride);
}

/// screen_nearest() of kTile samples of d >= kMinRowFeatures features. `samples`: where they are,
/// and kInterleavedRows that come next, any of them more than once. `former`: kTile labels.
void screen_rows(InstructionSet set, const float* const* samples, std::int64_t d,
                 const RowCentroids& centroids, const std::int32_t* former, TileLabels& nearest);

}  // namespace lloyd_openmp
