// Screens: squared distances of a tile of samples to many centroids, vectorised for the machine at
// hand and not exact. A bound says which of them the definition has to decide.
#pragma once

#include <cstdint>
#include <limits>

#include "tile.hpp"

namespace lloyd_openmp {

/// The screened distances of a tile's samples, as far as the nearest centroid needs them.
template <class Real>
struct TileNearest {
  TileVector<Real> least;
  TileVector<Real> second;    ///< least of the others; infinite where there is one centroid
  std::int64_t index[kTile];  ///< centroid of the least; of several equal ones the lowest
};

/// Screens a tile against m >= 1 centroids (m x d).
template <class Real>
void screen_nearest(InstructionSet set, const TileVector<Real>* tile, std::int64_t d,
                    const Real* centroids, std::int64_t m, TileNearest<Real>& nearest);

/// Screens a tile against m centroids: bit i of below[c] says whether the screened distance of
/// sample i to centroid c is at most limits.lanes[i] (-1: never).
template <class Real>
void screen_below(InstructionSet set, const TileVector<Real>* tile, std::int64_t d,
                  const Real* centroids, std::int64_t m, const TileVector<Real>& limits,
                  std::uint64_t* below);

/// How far screened distances can be off.
///
/// Samples and centroids are values of Real, u = 2^-p is its unit roundoff, S the exact sum of d
/// squared differences, D what the definition makes of it in float64, Q the screened one. A rounded
/// difference is off by a factor 1 + e, |e| <= u, never by underflow; its square, rounded or inside
/// an FMA, and d sums follow. All terms are >= 0, so that nothing cancels: as long as nothing
/// overflows, Q <= S (1+u)^(d+3) + d t, where t = half the least denormal for each square that
/// underflows; D >= S (1-2^-53)^(d+2) - d t. With widen(v) = v (1 + 4(d+4)u) + 16 d t (the rounding
/// of widen itself, to Real, is within the second half of the factor and of the sum):
///   Q > widen(v) implies D > v, for (d+4)u < 1/16.
/// Where Q overflowed, S is above the greatest Real divided by (1+u)^(d+3); widen(v) is then either
/// infinite, so that Q > widen(v) does not hold, or finite, and the conclusion stands.
/// Likewise D <= S (1+2^-53)^(d+2) + d t and Q >= S (1-u)^(d+3) - d t give D <= widen(Q).
template <class Real>
class ScreenBound {
 public:
  static constexpr std::int64_t kMaxFeatures = 1 << 16;

  /// d at most kMaxFeatures.
  explicit ScreenBound(std::int64_t d)
      : factor_(1 + 2 * static_cast<double>(d + 4) * std::numeric_limits<Real>::epsilon()),
        term_(8 * static_cast<double>(d) * std::numeric_limits<Real>::denorm_min()) {}

  /// For v >= 0: infinite where the result is beyond Real.
  Real widen(double v) const {
    const double wide = v * factor_ + term_;
    // A double beyond the type must not be converted.
    return wide < std::numeric_limits<Real>::max() ? static_cast<Real>(wide)
                                                   : std::numeric_limits<Real>::infinity();
  }

 private:
  double factor_;
  double term_;
};

}  // namespace lloyd_openmp
