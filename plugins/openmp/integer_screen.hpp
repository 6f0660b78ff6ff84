// IntegerScreen: centroids in 16-bit integers, whose products with samples in 16-bit integers cost
// half of what those in float32 do, with the bound that proves labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "tile.hpp"
#include "tile_labels.hpp"

namespace lloyd_openmp {

/// Samples of a tile whose pairs of features stand side by side.
inline constexpr std::size_t kPairLanes = 16;

/// Two features of kPairLanes samples of a tile, 16 bits each.
struct alignas(64) PairLine {
  std::int32_t lanes[kPairLanes];
};

/// Lines that the pairs of features of a tile take.
constexpr std::size_t pair_lines(std::int64_t d) {
  return static_cast<std::size_t>((d + 1) / 2 * (kTile / std::ssize(PairLine().lanes)));
}

/// Where the first pair is of the sample in `lane`, of `pairs` pairs of features; each further one
/// is kPairLanes later.
template <class Line>
constexpr auto pairs_of_lane(Line* lines, std::size_t pairs, std::size_t lane) {
  return lines[lane / kPairLanes * pairs].lanes + lane % kPairLanes;
}

/// k centroids of d features as screen_integers takes them; see IntegerScreen.
struct IntegerCentroids {
  const std::int32_t*
      packed_centroids;     ///< in panels: for each pair of features those of its centroids
  std::int64_t panel_size;  ///< centroids of a panel; the last one may have fewer
  const double* offsets;    ///< k: (E^2 - |e|^2) / 2t
  std::int64_t clusters;    ///< k >= 1
  double unit;              ///< t
  double radius;            ///< E
  double norm;              ///< greatest |e/t|
  double residual;          ///< greatest |e/t - p|
};

/// Samples y of a tile in units s, rounded to integers q.
struct IntegerTile {
  PairLine* pairs;               ///< (d + 1) / 2 for each kPairLanes samples, one after another
  TileVector<float>* norms;      ///< |y|
  TileVector<float>* residuals;  ///< |y - s q|
  float unit;                    ///< s
  float radius;                  ///< no less than IntegerScreen::radius_of() the samples
};

/// Screens a tile whose unit is at least E/Q. `former`: kTile labels; `offsets`: room for k
/// integers.
void screen_integers(InstructionSet set, const IntegerTile& tile, std::int64_t d,
                     const IntegerCentroids& centroids, const std::int32_t* former,
                     std::int32_t* offsets, TileLabels& nearest);

/// Centroids that an instruction set has registers for, the most that a panel may have.
std::int64_t max_panel_size(InstructionSet set);

/// Samples y and centroids e, relative to an origin, in units s and t: q = y/s and p = e/t, rounded
/// to integers. With E no less than any |e|, the nearest centroid has the greatest
/// A = y.e + (E^2 - |e|^2)/2, which in units of st is
///   a = q.p + (E^2 - |e|^2)/2st,
/// the last term as an integer; then low bits of a, M = kIndexMask, say whose it is. With
/// s >= max(|y|, E)/Q but for its rounding, where |y| is the greatest of a tile's samples, and
/// t = E/Q, |q.p| and its parts are below (Q + sqrt(d)/2)^2 by Cauchy-Schwarz, and so are sums of
/// them and the last term: with x = |e|/E these are no more than Q^2 (x + (1 - x^2)/2) but for what
/// rounding adds. So 32 bits hold them; 16 hold values of q and p, since sQ and E are as great as
/// the values of samples and centroids need, too: radius_of(). By the same inequality
///   |A/st - a| <= R L + |q| P + 1 + M,
///   R = |y/s - q|,  L = greatest |e/t|,  P = greatest |e/t - p|,  |q| <= |y|/s + R:
/// actual residuals, a third of the worst case. R is measured for each sample; what its measuring
/// and the rounding of y to float32 leave out is below 4u|y|/s, u = 2^-24, and squares that
/// underflow add less than a tenth to the 1.
/// The definition is off by at most (d + 2) 2^-53 of a distance (score_screen.hpp). So a label is
/// proven where the greatest a is above the second by more than
///   2 (R' L + (|y|/s + R') P + 1.5 + M) + 2 (d + 3) 2^-53 (|y|^2 + E^2)/st,  R' = R + 4u|y|/s,
/// and 128 for taking that difference in float32, which below 2^31 has every 128th integer; the
/// rounding of the difference and of the limit itself is within the factor kSlack.
class IntegerScreen {
 public:
  static constexpr double kMaxUnits = 46240;  ///< Q
  static constexpr double kMaxValue = 32760;  ///< of q and p
  static constexpr double kSlack = 1 + 1e-3;
  static constexpr std::int32_t kIndexMask = 255;  ///< M
  static constexpr std::int64_t kMaxFeatures = 4096;

  /// `centroids`: k x d, `origin`: d; `radius`: no sample is farther from the origin. For
  /// screen_integers() of the same instruction set.
  void set_centroids(InstructionSet set, const double* centroids, std::int64_t k, std::int64_t d,
                     const float* origin, double sample_radius) {
    // Units and squares of residuals stay normal numbers.
    constexpr double kMinRadius = 1e-10, kMaxRadius = 1e10;
    const auto value = [&](std::int64_t c, std::int64_t j) {
      return centroids[c * d + j] - static_cast<double>(origin[j]);
    };
    offsets_.assign(static_cast<std::size_t>(k), 0);
    double max_norm = 0, max_value = 0;
    for (std::int64_t c = 0; c < k; ++c) {
      double& norm = offsets_[static_cast<std::size_t>(c)];  // squared, for now
      for (std::int64_t j = 0; j < d; ++j) {
        norm += value(c, j) * value(c, j);
        max_value = std::max(max_value, std::abs(value(c, j)));
      }
      max_norm = std::max(max_norm, norm);
    }
    max_norm = std::sqrt(max_norm) * (1 + 1e-12);
    const double radius = radius_of(max_norm, max_value);
    fits_ =
        d <= kMaxFeatures && radius > kMinRadius && std::max(radius, sample_radius) < kMaxRadius;
    if (!fits_) return;

    const double unit = radius / kMaxUnits;
    const std::int64_t pairs = (d + 1) / 2;
    // Few centroids in panels of one size: of a small one each sum would wait for its last product.
    const std::int64_t panels = divide_up(k, max_panel_size(set));
    const std::int64_t panel_size = divide_up(k, panels);
    packed_.assign(static_cast<std::size_t>(k * pairs), 0);
    double residual = 0;
    for (std::int64_t c = 0; c < k; ++c) {
      double squared = 0;
      const std::int64_t first = c / panel_size * panel_size;  // of the panel
      const std::int64_t in_panel = std::min(panel_size, k - first);
      for (std::int64_t j = 0; j < d; ++j) {
        const double exact = value(c, j) / unit;
        const double rounded = std::nearbyint(exact);
        squared += (exact - rounded) * (exact - rounded);
        const auto half =
            static_cast<std::uint32_t>(static_cast<std::uint16_t>(static_cast<int>(rounded)));
        std::int32_t& pair =
            packed_[static_cast<std::size_t>(first * pairs + j / 2 * in_panel + (c - first))];
        pair = static_cast<std::int32_t>(static_cast<std::uint32_t>(pair) | half << (16 * (j % 2)));
      }
      residual = std::max(residual, squared);
      double& offset = offsets_[static_cast<std::size_t>(c)];
      offset = (radius * radius - offset) / (2 * unit);
    }
    centroids_ = {packed_.data(), panel_size, offsets_.data(), k,
                  unit,           radius,     max_norm / unit, std::sqrt(residual) * (1 + 1e-6)};
  }

  /// Q units of vectors whose norms and values are no greater than these.
  static constexpr double radius_of(double norm, double value) {
    return std::max(norm, value * (kMaxUnits / kMaxValue));
  }

  /// Whether the centroids that were set last can be screened.
  bool fits() const { return fits_; }
  const IntegerCentroids& centroids() const { return centroids_; }

  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    return k * ((d + 1) / 2) * 4 + k * 8;
  }

 private:
  static std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

  std::vector<std::int32_t> packed_;
  std::vector<double> offsets_;  // k
  IntegerCentroids centroids_{};
  bool fits_ = false;
};

}  // namespace lloyd_openmp
