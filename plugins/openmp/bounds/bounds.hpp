// Distance bounds that survive an iteration: their arithmetic, and the drift of centroids.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace lloyd_openmp {

// Bounds are not rewritten when centroids move. Each is stored relative to the time of
// CentroidDrift::begin(): an upper bound minus its centroid's accumulated drift when it is stored,
// a lower bound plus the accumulated maximum drift. Reading a bound adds (or subtracts) the drift
// accumulated since then.
//
// All bounds are float32, rounded outward so that they hold in spite of rounding and prove labels
// of the definition: docs/design/openmp/exactness.md, section 5.

/// Relative excess that covers two roundings to float32.
inline constexpr double kBoundExcess = 0x1p-21;
/// Relative gap between the bounds that proves a label. Covers the roundings of reading both, of
/// their comparison, and of the definition.
inline constexpr double kBoundMargin = 0x1p-19;
/// Exceeds the error of a distance due to squares that underflow in float32, for up to 2^16
/// features.
inline constexpr double kTinyDistance = 0x1p-50;

/// Accumulated movement of a centroid since CentroidDrift::begin(), rounded down and up. The
/// difference of a later `upper` and an earlier `lower` is at least the distance moved in between.
struct Drift {
  float lower = 0;
  float upper = 0;
};

/// Rounds a distance to float32 in both directions. `lower` is capped at FLT_MAX / 2, as lower
/// bounds are, so that lower bound + drift is finite.
inline Drift round_outward(double distance) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kMaxFinite = std::numeric_limits<float>::max() / 2;
  if (distance == 0) return {};
  if (!(distance < kMaxFinite)) return {kMaxFinite, kInfinity};
  const auto rounded = static_cast<float>(distance);
  return {std::nextafter(rounded, -kInfinity), std::nextafter(rounded, kInfinity)};
}

/// Converts an upper bound to its stored form, and back. `own`: drift of the sample's centroid.
inline float store_upper(float upper, Drift own) {
  const float stored = upper - own.lower;
  return stored + std::abs(stored) * static_cast<float>(kBoundExcess);
}
inline float read_upper(float stored, Drift own) {
  return stored + own.upper;
}

/// Converts a lower bound to its stored form, and back. `maximum`: accumulated maximum drift. A
/// negative result or NaN proves nothing.
inline float store_lower(float lower, Drift maximum) {
  return (lower + maximum.lower) * static_cast<float>(1 - kBoundExcess);
}
inline float read_lower(float stored, Drift maximum) {
  return stored - maximum.upper;
}

/// True if the bounds prove that the label is unchanged; false if either is NaN.
inline bool proves_label(float upper, float lower) {
  return lower > upper * static_cast<float>(1 + kBoundMargin);
}

/// Bounds on a distance, given its square as a float64 sum in any order.
inline float upper_bound(double squared) {
  const double upper = std::sqrt(squared) * (1 + kBoundExcess) + kTinyDistance;
  return upper < std::numeric_limits<float>::max() ? static_cast<float>(upper)
                                                   : std::numeric_limits<float>::infinity();
}

inline float lower_bound(double squared) {
  const double lower = std::sqrt(squared) * (1 - kBoundExcess) - kTinyDistance;
  // Capped, so that adding drift cannot overflow.
  constexpr double kMaxFinite = std::numeric_limits<float>::max() / 2;
  return static_cast<float>(std::clamp(lower, 0.0, kMaxFinite));
}

/// Drift of each centroid since begin().
class CentroidDrift {
 public:
  /// Resets all drifts. `centroids`: their current positions, k x d.
  void begin(const double* centroids, std::int64_t k, std::int64_t d) {
    d_ = d;
    centroids_.assign(centroids, centroids + k * d);
    last_drifts_.assign(static_cast<std::size_t>(k), 0);
    distances_.assign(static_cast<std::size_t>(k), 0);
    drifts_.assign(static_cast<std::size_t>(k), round_outward(0));
    accumulated_max_ = 0;
    max_drift_ = round_outward(0);
  }

  /// The centroids have moved to these positions: k x d.
  void move(const double* centroids) {
    double largest = 0;
    for (std::size_t c = 0; c < distances_.size(); ++c) {
      double squared = 0;
      const std::size_t first = c * static_cast<std::size_t>(d_);
      for (std::size_t j = first; j < first + static_cast<std::size_t>(d_); ++j) {
        const double difference = centroids[j] - centroids_[j];
        squared += difference * difference;
        centroids_[j] = centroids[j];
      }
      // The rounding error is below (d + 3) 2^-53 < 2^-36 for up to 2^16 features, plus underflow.
      const double distance = squared == 0 ? 0 : std::sqrt(squared) * (1 + 0x1p-36) + 0x1p-500;
      last_drifts_[c] = distance;
      if (distance > 0) distances_[c] = std::nextafter(distances_[c] + distance, kInfinity);
      drifts_[c] = round_outward(distances_[c]);
      largest = std::max(largest, distance);
    }
    if (largest > 0) accumulated_max_ = std::nextafter(accumulated_max_ + largest, kInfinity);
    max_drift_ = round_outward(accumulated_max_);
  }

  Drift of(std::int64_t c) const { return drifts_[static_cast<std::size_t>(c)]; }
  const Drift* all() const { return drifts_.data(); }  ///< k values
  /// Upper bound on the drift of centroid c in the last iteration.
  double last_drift(std::int64_t c) const { return last_drifts_[static_cast<std::size_t>(c)]; }
  /// The largest drift of each iteration, accumulated.
  Drift maximum() const { return max_drift_; }

  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    return k * (8 * d + 16 + static_cast<std::int64_t>(sizeof(Drift)));
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  std::int64_t d_ = 0;
  std::vector<double> centroids_;    // k x d
  std::vector<double> last_drifts_;  // k: of the last iteration
  std::vector<double> distances_;    // k: accumulated
  std::vector<Drift> drifts_;        // k
  double accumulated_max_ = 0;
  Drift max_drift_;
};

}  // namespace lloyd_openmp
