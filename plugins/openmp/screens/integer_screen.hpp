// IntegerScreen: centroids for screening in 16-bit integers, whose products cost half of those in
// float32.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "common/tile.hpp"
#include "common/tile_labels.hpp"

namespace lloyd_openmp {

/// Samples of a tile that share a cache line of pairs.
inline constexpr std::size_t kPairLanes = 16;

/// Two features, 16 bits each, of kPairLanes samples. The (d + 1) / 2 consecutive lines of the same
/// samples are a section of the tile.
struct alignas(64) PairLine {
  std::int32_t lanes[kPairLanes];
};

/// Number of PairLines in a tile of d features.
constexpr std::size_t pair_lines(std::int64_t d) {
  return static_cast<std::size_t>((d + 1) / 2 * (kTile / std::ssize(PairLine().lanes)));
}

/// The first pair of features of the sample in `lane`; following pairs are kPairLanes values apart.
/// `pairs`: number of pairs of features, (d + 1) / 2.
template <class Line>
constexpr auto pairs_of_lane(Line* lines, std::size_t pairs, std::size_t lane) {
  return lines[lane / kPairLanes * pairs].lanes + lane % kPairLanes;
}

/// k centroids of d features, packed for screen_integers(). Symbols:
/// docs/design/openmp/exactness.md, section 2.
struct IntegerCentroids {
  /// Panel by panel; within a panel, for each pair of features one packed pair per centroid.
  const std::int32_t* packed_centroids;
  std::int64_t panel_size;  ///< centroids per panel; the last panel may have fewer
  const double* offsets;    ///< k values: (E^2 - |e|^2) / (2 tau)
  std::int64_t clusters;    ///< k >= 1
  double unit;              ///< tau
  double radius;            ///< E
  double norm;              ///< L: largest |e / tau|
  double residual;          ///< P: largest |e / tau - p|
};

/// The samples y of a tile in units of sigma, rounded to integers q.
struct IntegerTile {
  PairLine* pairs;               ///< (d + 1) / 2 for each kPairLanes samples
  TileVector<float>* norms;      ///< |y|
  TileVector<float>* residuals;  ///< |y - sigma q|
  float unit;                    ///< sigma
  float radius;                  ///< at least IntegerScreen::radius_of() of the samples
};

/// Screens a tile whose unit is at least E/Q. `former`: kTile labels; `offsets`: scratch, k values:
/// the offsets in units of sigma tau.
void screen_integers(InstructionSet set, const IntegerTile& tile, std::int64_t d,
                     const IntegerCentroids& centroids, const std::int32_t* former,
                     std::int32_t* offsets, TileLabels& nearest);

/// Maximum number of centroids per panel with this instruction set.
std::int64_t max_panel_size(InstructionSet set);

/// Rounds and packs centroids. Range and error bound of the integer scores:
/// docs/design/openmp/exactness.md, section 2.
class IntegerScreen {
 public:
  static constexpr double kMaxUnits = 46240;  ///< Q
  static constexpr double kMaxValue = 32760;  ///< largest component of q and p
  /// Relative margin for the roundings of a limit (section 2, step 5).
  static constexpr double kSlack = 1 + 1e-3;
  static constexpr std::int32_t kIndexMask = 255;  ///< I
  static constexpr std::int64_t kMaxFeatures = 4096;

  /// `centroids`: k x d; `origin`: d values; `sample_radius`: upper bound on the distance of any
  /// sample to the origin. Packs for screen_integers() with the same instruction set.
  void set_centroids(InstructionSet set, const double* centroids, std::int64_t k, std::int64_t d,
                     const float* origin, double sample_radius) {
    // Keeps units and squared residuals normal numbers.
    constexpr double kMinRadius = 1e-10, kMaxRadius = 1e10;
    const auto value = [&](std::int64_t c, std::int64_t j) {
      return centroids[c * d + j] - static_cast<double>(origin[j]);
    };
    offsets_.assign(static_cast<std::size_t>(k), 0);
    double max_norm = 0, max_value = 0;
    for (std::int64_t c = 0; c < k; ++c) {
      double& norm = offsets_[static_cast<std::size_t>(c)];  // holds |e|^2 until the unit is known
      for (std::int64_t j = 0; j < d; ++j) {
        norm += value(c, j) * value(c, j);
        max_value = std::max(max_value, std::abs(value(c, j)));
      }
      max_norm = std::max(max_norm, norm);
    }
    max_norm = std::sqrt(max_norm) * (1 + 1e-12);
    const double radius = radius_of(max_norm, max_value);
    can_screen_ =
        d <= kMaxFeatures && radius > kMinRadius && std::max(radius, sample_radius) < kMaxRadius;
    if (!can_screen_) return;

    const double unit = radius / kMaxUnits;
    const std::int64_t pairs = (d + 1) / 2;
    // Panels of equal size: a small panel has too few independent sums to hide latencies.
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

  /// The radius that Q units must cover for vectors with at most this norm and component.
  static constexpr double radius_of(double norm, double value) {
    return std::max(norm, value * (kMaxUnits / kMaxValue));
  }

  /// True if the current centroids can be screened.
  bool can_screen() const { return can_screen_; }
  const IntegerCentroids& centroids() const { return centroids_; }

  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    return k * ((d + 1) / 2) * 4 + k * 8;
  }

 private:
  static std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

  std::vector<std::int32_t> packed_;
  std::vector<double> offsets_;  // k values
  IntegerCentroids centroids_{};
  bool can_screen_ = false;
};

}  // namespace lloyd_openmp
