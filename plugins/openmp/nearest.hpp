// The nearest centroids of a tile of samples, vectorised for the machine at hand: screened in the
// expanded form, with a proof for most of them, or by the definition.
#pragma once

#include <bit>
#include <cstdint>

#include "score_limit.hpp"
#include "tile.hpp"
#include "tile_labels.hpp"

namespace lloyd_openmp {

/// Centroids whose factors stand side by side: as many scores as registers hold at once.
inline constexpr std::int64_t kPanelCentroids = 6;

/// Features up to which samples stay in registers.
inline constexpr std::int64_t kMaxRegisterFeatures = 8;

/// Of k clusters and d features: how many values the last bits of a score have that say whose it
/// is; 0: there are none such.
constexpr std::int64_t score_marks(std::int64_t k, std::int64_t d) {
  constexpr std::int64_t kMost = 64;
  if (d > kMaxRegisterFeatures || k > kMost) return 0;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(k)));
}

/// k centroids of d features as the screen takes them, relative to the origin of the tiles.
template <class Real>
struct TileCentroids {
  const Real* squared_norms;  ///< k
  /// -2 times the centroids, in panels of kPanelCentroids: for each of the d features the values of
  /// the panel's centroids. The last panel has as much room as the others.
  const Real* packed_centroids;
  std::int64_t clusters;  ///< k >= 1
  ScoreLimit<Real> limit;
};

/// Screens a tile. The score of a sample y and a centroid e is |e|^2 - 2 y.e, its squared distance
/// less |y|^2. `former`: kTile labels.
template <class Real>
void screen_tile(InstructionSet set, const TileVector<Real>* tile, std::int64_t d,
                 const TileCentroids<Real>& centroids, const std::int32_t* former,
                 TileLabels& nearest);

/// By the definition, nothing left unproven: labels of `count` (1 to kTile) samples of a tile, as
/// they are (origin 0), and maybe of lanes beyond. `centroids`: k x d; `labels`: kTile.
void label_exactly(InstructionSet set, const TileVector<double>* tile, std::int64_t count,
                   std::int64_t d, const double* centroids, std::int64_t k, std::int32_t* labels);

}  // namespace lloyd_openmp
