// Labels tiles: by screening in floating point, which proves most labels, or exactly.
#pragma once

#include <bit>
#include <cstdint>

#include "common/score_limit.hpp"
#include "common/tile.hpp"
#include "common/tile_labels.hpp"

namespace lloyd_openmp {

/// Centroids per panel; their scores fill the registers.
inline constexpr std::int64_t kPanelCentroids = 6;

/// Up to this number of features, the samples stay in registers.
inline constexpr std::int64_t kMaxRegisterFeatures = 8;

/// Number of different indices that can replace the low bits of a score, a power of two >= k; 0:
/// scores hold no indices. This costs less than tracking the index in a register of its own.
constexpr std::int64_t indices_in_score(std::int64_t k, std::int64_t d) {
  constexpr std::int64_t kMaxMarkedClusters = 64;
  if (d > kMaxRegisterFeatures || k > kMaxMarkedClusters) return 0;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(k)));
}

/// k centroids of d features, relative to the origin of the tiles and packed for screen_tile().
template <class Real>
struct TileCentroids {
  const Real* squared_norms;  ///< k values
  /// -2 e in panels of kPanelCentroids: for each feature the values of the panel's centroids. The
  /// last panel is padded.
  const Real* packed_centroids;
  std::int64_t clusters;  ///< k >= 1
  ScoreLimit<Real> limit;
};

/// Screens the first `count` (1 to kTile) samples of a tile. The other lanes get labels in [0, k);
/// their other results are unspecified. The score of a sample y and a centroid e is |e|^2 - 2 y.e,
/// their squared distance minus |y|^2. `former`: kTile labels.
template <class Real>
void screen_tile(InstructionSet set, const TileVector<Real>* tile, std::int64_t count,
                 std::int64_t d, const TileCentroids<Real>& centroids, const std::int32_t* former,
                 TileLabels& nearest);

/// Labels `count` (1 to kTile) samples of a tile with origin 0 by the definition. `centroids`: k x
/// d; `labels`: kTile values, of which those beyond `count` are unspecified.
void label_exactly(InstructionSet set, const TileVector<double>* tile, std::int64_t count,
                   std::int64_t d, const double* centroids, std::int64_t k, std::int32_t* labels);

}  // namespace lloyd_openmp
