// Screens squared distances of a tile to many centroids. An error bound determines which pairs the
// definition has to decide.
#pragma once

#include <cstdint>
#include <limits>

#include "common/tile.hpp"

namespace lloyd_openmp {

/// The two smallest screened squared distances of each sample of a tile.
template <class Real>
struct TileNearest {
  TileVector<Real> lowest;
  TileVector<Real> second;    ///< infinite if there is only one centroid
  std::int64_t index[kTile];  ///< centroid of `lowest`; ties go to the lowest index
};

/// Screens a tile against m >= 1 centroids (m x d).
template <class Real>
void screen_nearest(InstructionSet set, const TileVector<Real>* tile, std::int64_t d,
                    const Real* centroids, std::int64_t m, TileNearest<Real>& nearest);

/// Screens a tile against m centroids. Bit i of below[c]: the screened squared distance of sample i
/// to centroid c is at most limits.lanes[i] (-1: never).
template <class Real>
void screen_below(InstructionSet set, const TileVector<Real>* tile, std::int64_t d,
                  const Real* centroids, std::int64_t m, const TileVector<Real>& limits,
                  std::uint64_t* below);

/// Error bound of screened squared distances: docs/design/openmp/exactness.md, section 4. A
/// screened squared distance above widen(z) implies that the defined one is above z, and a defined
/// squared distance is at most widen() of the screened one.
template <class Real>
class ScreenBound {
 public:
  static constexpr std::int64_t kMaxFeatures = 1 << 16;

  /// d <= kMaxFeatures.
  explicit ScreenBound(std::int64_t d)
      : factor_(1 + 2 * static_cast<double>(d + 4) * std::numeric_limits<Real>::epsilon()),
        term_(8 * static_cast<double>(d) * std::numeric_limits<Real>::denorm_min()) {}

  /// Requires v >= 0. Infinite if the result exceeds Real.
  Real widen(double v) const {
    const double wide = v * factor_ + term_;
    // Converting a double that exceeds the type would be undefined.
    return wide < std::numeric_limits<Real>::max() ? static_cast<Real>(wide)
                                                   : std::numeric_limits<Real>::infinity();
  }

 private:
  double factor_;
  double term_;
};

}  // namespace lloyd_openmp
