// Bounds on distances that outlive an iteration: their arithmetic, and how far centroids moved.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace lloyd_openmp {

// A sample keeps an upper bound of the distance to its own centroid and a lower one of that to any
// other (Hamerly 2010). As long as they do not meet, its label stands. Bounds are float32; the
// processor rounds to the nearest, 2^-24 at the most, and each operation is followed by a factor
// that puts its result on the safe side.
//
// While centroids move bounds are not touched: they are stored as of the beginning of the fit, an
// upper bound less the distance that its centroid had gone by then, a lower bound with the maximum
// distance of any centroid added; the distance gone since is added or taken off when they are read.
//
// The definition (score_screen.hpp) is off by (d + 2) 2^-53 of a squared distance, below 2^-36, and
// by what underflows in float64, which kTinyDistance exceeds by far. So where
// lower > upper (1 + kBoundMargin), every other centroid is farther by the definition too.

/// Covers two roundings to float32.
inline constexpr double kBoundExcess = 0x1p-21;
/// What a lower bound is above an upper one where a label stands: covers the roundings of both when
/// they are read, of the comparison, and of the definition.
inline constexpr double kBoundMargin = 0x1p-19;
/// Above everything that squares lose to underflow in float32, for up to 2^16 features.
inline constexpr double kTinyDistance = 0x1p-50;

/// How far something moved since the fit began. The difference of a later `up` and an earlier
/// `down` is at least the distance between the two.
struct Drift {
  float lower = 0;
  float upper = 0;
};

/// At most `distance` and at least that, in float32. The former is no more than half of the
/// greatest, as lower bounds are, so that their sum is finite.
inline Drift round_outward(double distance) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kMaxFinite = std::numeric_limits<float>::max() / 2;
  if (distance == 0) return {};
  if (!(distance < kMaxFinite)) return {kMaxFinite, kInfinity};
  const auto rounded = static_cast<float>(distance);
  return {std::nextafter(rounded, -kInfinity), std::nextafter(rounded, kInfinity)};
}

/// An upper bound as it is stored, and what it is after its centroid moved.
inline float store_upper(float upper, Drift own) {
  const float stored = upper - own.lower;
  return stored + std::abs(stored) * static_cast<float>(kBoundExcess);
}
inline float read_upper(float stored, Drift own) {
  return stored + own.upper;
}

/// A lower bound as it is stored, and what it is after centroids moved. Negative, or no number: it
/// says nothing.
inline float store_lower(float lower, Drift maximum) {
  return (lower + maximum.lower) * static_cast<float>(1 - kBoundExcess);
}
inline float read_lower(float stored, Drift maximum) {
  return stored - maximum.upper;
}

/// Whether these bounds prove a label. False for what is no number.
inline bool proves_label(float upper, float lower) {
  return lower > upper * static_cast<float>(1 + kBoundMargin);
}

/// Bounds of a distance whose square float64 gave, in any order of adding up.
inline float upper_bound(double squared) {
  const double upper = std::sqrt(squared) * (1 + kBoundExcess) + kTinyDistance;
  return upper < std::numeric_limits<float>::max() ? static_cast<float>(upper)
                                                   : std::numeric_limits<float>::infinity();
}

inline float lower_bound(double squared) {
  const double lower = std::sqrt(squared) * (1 - kBoundExcess) - kTinyDistance;
  // Half of the greatest: what is added to it stays finite.
  constexpr double kMaxFinite = std::numeric_limits<float>::max() / 2;
  return static_cast<float>(std::clamp(lower, 0.0, kMaxFinite));
}

/// How far each of a fit's centroids moved since it began.
class CentroidDrift {
 public:
  /// The first centroids: k x d.
  void begin(const double* centroids, std::int64_t k, std::int64_t d) {
    d_ = d;
    centroids_.assign(centroids, centroids + k * d);
    last_.assign(static_cast<std::size_t>(k), 0);
    distances_.assign(static_cast<std::size_t>(k), 0);
    drifts_.assign(static_cast<std::size_t>(k), round_outward(0));
    accumulated_max_ = 0;
    max_drift_ = round_outward(0);
  }

  /// The same ones where they are now.
  void move(const double* centroids) {
    double longest = 0;
    for (std::size_t c = 0; c < distances_.size(); ++c) {
      double squared = 0;
      const std::size_t first = c * static_cast<std::size_t>(d_);
      for (std::size_t j = first; j < first + static_cast<std::size_t>(d_); ++j) {
        const double difference = centroids[j] - centroids_[j];
        squared += difference * difference;
        centroids_[j] = centroids[j];
      }
      // Above (d + 3) 2^-53, for up to 2^16 features, and what underflows.
      const double distance = squared == 0 ? 0 : std::sqrt(squared) * (1 + 0x1p-36) + 0x1p-500;
      last_[c] = distance;
      if (distance > 0) distances_[c] = std::nextafter(distances_[c] + distance, kInfinity);
      drifts_[c] = round_outward(distances_[c]);
      longest = std::max(longest, distance);
    }
    if (longest > 0) accumulated_max_ = std::nextafter(accumulated_max_ + longest, kInfinity);
    max_drift_ = round_outward(accumulated_max_);
  }

  Drift of(std::int64_t c) const { return drifts_[static_cast<std::size_t>(c)]; }
  const Drift* all() const { return drifts_.data(); }  ///< k
  /// In the last iteration, at least.
  double last_drift(std::int64_t c) const { return last_[static_cast<std::size_t>(c)]; }
  /// The maximum of each iteration, added up.
  Drift maximum() const { return max_drift_; }

  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    return k * (8 * d + 16 + static_cast<std::int64_t>(sizeof(Drift)));
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  std::int64_t d_ = 0;
  std::vector<double> centroids_;  // k x d
  std::vector<double> last_;       // k
  std::vector<double> distances_;  // k
  std::vector<Drift> drifts_;      // k
  double accumulated_max_ = 0;
  Drift max_drift_;
};

}  // namespace lloyd_openmp
