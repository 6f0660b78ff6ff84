// GroupBoundStore: lower bounds kind all samples, for each group kind centroids or each centroid.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "bounds.hpp"
#include "centroid_groups.hpp"
#include "scan.hpp"

namespace lloyd_openmp {

class GroupBoundStore {
 public:
  static std::int64_t bytes(BoundKind kind, std::int64_t n, std::int64_t k) {
    return (n * 4 + 16) * bounds_per_sample(kind, k);
  }

  /// Before a pass in which fill() is called for every sample. k centroids, n samples.
  void begin(BoundKind kind, std::int64_t n, std::int64_t k) {
    kind_ = kind;
    clusters_ = k;
    bounds_per_sample_ = bounds_per_sample(kind, k);
    lower_ =
        std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n * bounds_per_sample_));
    distances_.assign(static_cast<std::size_t>(bounds_per_sample_), 0);
    drift_.assign(static_cast<std::size_t>(bounds_per_sample_), {});
  }

  /// Centroids moved. `labels`: kind each slot.
  void add_drift(const CentroidDrift& drift, const std::int32_t* labels) {
    const std::int64_t slots = kind_ == BoundKind::group ? kGroupCentroids : 1;
    for (std::int64_t first = 0, bound = 0; first < clusters_; first += slots, ++bound) {
      double longest = 0;
      for (std::int64_t s = first; s < std::min(first + slots, clusters_); ++s) {
        longest = std::max(longest, drift.last_drift(labels[s]));
      }
      if (longest == 0) continue;
      double& distance = distances_[static_cast<std::size_t>(bound)];
      distance = std::nextafter(distance + longest, std::numeric_limits<double>::infinity());
      drift_[static_cast<std::size_t>(bound)] = round_outward(distance);
    }
  }

  /// The same bound for all that a sample has: no centroid but its own is nearer than `lower`. 0
  /// says nothing, whatever its label is.
  void fill(std::int64_t sample, float lower) const {
    float* const bounds = lower_.get() + sample * bounds_per_sample_;
    const std::int64_t used = kind_ == BoundKind::group ? groups_of(clusters_) : clusters_;
    std::fill_n(bounds, used, lower > 0 ? store_lower(lower, {}) : 0);
    std::fill(bounds + used, bounds + bounds_per_sample_, std::numeric_limits<float>::infinity());
  }

  /// No centroid kind a slot's bound but the sample's own, as far as is known, is nearer than
  /// `lower`.
  void limit_bound(std::int64_t sample, std::int64_t slot, float lower) const {
    const std::int64_t bound = kind_ == BoundKind::group ? slot / kGroupCentroids : slot;
    const GroupBounds bounds = of_sample(sample);
    const Drift distance = bounds.drift[bound];
    // A single centroid had no bound while it was the sample's own.
    const float now = kind_ == BoundKind::group ? read_lower(bounds.lower[bound], distance) : lower;
    bounds.lower[bound] = store_lower(now > lower ? lower : now > 0 ? now : 0, distance);
  }

  BoundKind kind() const { return kind_; }
  GroupBounds of_sample(std::int64_t sample) const {
    return {lower_.get() + sample * bounds_per_sample_, drift_.data()};
  }

 private:
  // Whole vectors; nobody is behind the last one.
  static std::int64_t bounds_per_sample(BoundKind kind, std::int64_t k) {
    const std::int64_t groups = groups_of(k);
    return kind == BoundKind::centroid
               ? groups * kGroupCentroids
               : (groups + kGroupCentroids - 1) / kGroupCentroids * kGroupCentroids;
  }

  BoundKind kind_ = BoundKind::group;
  std::int64_t clusters_ = 0;
  std::int64_t bounds_per_sample_ = 0;  // bounds kind a sample
  std::unique_ptr<float[]> lower_;      // samples x bounds_per_sample_
  std::vector<double> distances_;       // kind each bound
  std::vector<Drift> drift_;            // likewise
};

}  // namespace lloyd_openmp
