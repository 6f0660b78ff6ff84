// GroupBoundStore: lower bounds of all samples per group of centroids, or per centroid.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "bounds/bounds.hpp"
#include "bounds/centroid_groups.hpp"
#include "bounds/scan.hpp"

namespace lloyd_openmp {

/// Lower bounds of all samples, in stored form. Bounds per group exclude the sample's own centroid.
class GroupBoundStore {
 public:
  static std::int64_t bytes(BoundKind kind, std::int64_t n, std::int64_t k) {
    return (n * 4 + 16) * bounds_per_sample(kind, k);
  }

  /// Allocates uninitialised bounds; call fill() for every sample in the same pass.
  void begin(BoundKind kind, std::int64_t n, std::int64_t k) {
    kind_ = kind;
    clusters_ = k;
    bounds_per_sample_ = bounds_per_sample(kind, k);
    lower_ =
        std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n * bounds_per_sample_));
    distances_.assign(static_cast<std::size_t>(bounds_per_sample_), 0);
    drift_.assign(static_cast<std::size_t>(bounds_per_sample_), {});
  }

  /// Centroids have moved. `labels`: centroid of each slot.
  void add_drift(const CentroidDrift& drift, const std::int32_t* labels) {
    const std::int64_t slots = kind_ == BoundKind::group ? kGroupCentroids : 1;
    for (std::int64_t first = 0, bound = 0; first < clusters_; first += slots, ++bound) {
      double largest = 0;
      for (std::int64_t s = first; s < std::min(first + slots, clusters_); ++s) {
        largest = std::max(largest, drift.last_drift(labels[s]));
      }
      if (largest == 0) continue;
      double& distance = distances_[static_cast<std::size_t>(bound)];
      distance = std::nextafter(distance + largest, std::numeric_limits<double>::infinity());
      drift_[static_cast<std::size_t>(bound)] = round_outward(distance);
    }
  }

  /// Sets all bounds of a sample: no centroid but its own is nearer than `lower`. 0 proves nothing,
  /// whatever the label is. `lower` > 0 only in the pass of begin(), before drift accumulates.
  void fill(std::int64_t sample, float lower) const {
    float* const bounds = lower_.get() + sample * bounds_per_sample_;
    const std::int64_t used = kind_ == BoundKind::group ? groups_of(clusters_) : clusters_;
    std::fill_n(bounds, used, lower > 0 ? store_lower(lower, {}) : 0);
    std::fill(bounds + used, bounds + bounds_per_sample_, std::numeric_limits<float>::infinity());
  }

  /// Call when the centroid in `slot` may no longer be the sample's own and so must be covered by a
  /// bound again. Caps the bound of its group (or slot) at `lower`, a lower bound on the distance
  /// to it.
  void cap_bound(std::int64_t sample, std::int64_t slot, float lower) const {
    const std::int64_t bound = kind_ == BoundKind::group ? slot / kGroupCentroids : slot;
    const GroupBounds bounds = for_sample(sample);
    const Drift drift = bounds.drift[bound];
    // With one bound per centroid, `slot` is that of the formerly assigned centroid, whose stored
    // bound is meaningless.
    const float current =
        kind_ == BoundKind::group ? read_lower(bounds.lower[bound], drift) : lower;
    bounds.lower[bound] = store_lower(current > lower ? lower : current > 0 ? current : 0, drift);
  }

  BoundKind kind() const { return kind_; }
  GroupBounds for_sample(std::int64_t sample) const {
    return {lower_.get() + sample * bounds_per_sample_, drift_.data()};
  }

 private:
  // Rounded up to whole vectors; the excess bounds belong to no centroid.
  static std::int64_t bounds_per_sample(BoundKind kind, std::int64_t k) {
    const std::int64_t groups = groups_of(k);
    return kind == BoundKind::centroid
               ? groups * kGroupCentroids
               : (groups + kGroupCentroids - 1) / kGroupCentroids * kGroupCentroids;
  }

  BoundKind kind_ = BoundKind::group;
  std::int64_t clusters_ = 0;
  std::int64_t bounds_per_sample_ = 0;
  std::unique_ptr<float[]> lower_;  // samples x bounds_per_sample_
  std::vector<double> distances_;   // accumulated drift of each bound
  std::vector<Drift> drift_;        // the same, rounded outward
};

}  // namespace lloyd_openmp
