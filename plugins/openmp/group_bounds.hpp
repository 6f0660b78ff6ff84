// GroupBoundsOfFit: lower bounds of all samples, for each group of centroids or each centroid.
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

class GroupBoundsOfFit {
 public:
  static std::int64_t bytes(BoundOf of, std::int64_t n, std::int64_t k) {
    return (n * 4 + 16) * bounds_of_sample(of, k);
  }

  /// Before a pass in which fill() is called for every sample. k centroids, n samples.
  void begin(BoundOf of, std::int64_t n, std::int64_t k) {
    of_ = of;
    clusters_ = k;
    each_ = bounds_of_sample(of, k);
    lower_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(n * each_));
    ways_.assign(static_cast<std::size_t>(each_), 0);
    published_.assign(static_cast<std::size_t>(each_), {});
  }

  /// Centroids moved. `labels`: of each slot.
  void move(const CentroidTravel& travel, const std::int32_t* labels) {
    const std::int64_t slots = of_ == BoundOf::group ? kGroup : 1;
    for (std::int64_t first = 0, bound = 0; first < clusters_; first += slots, ++bound) {
      double longest = 0;
      for (std::int64_t s = first; s < std::min(first + slots, clusters_); ++s) {
        longest = std::max(longest, travel.last_way(labels[s]));
      }
      if (longest == 0) continue;
      double& way = ways_[static_cast<std::size_t>(bound)];
      way = std::nextafter(way + longest, std::numeric_limits<double>::infinity());
      published_[static_cast<std::size_t>(bound)] = published(way);
    }
  }

  /// The same bound for all that a sample has: no centroid but its own is nearer than `lower`. 0
  /// says nothing, whatever its label is.
  void fill(std::int64_t sample, float lower) const {
    float* const bounds = lower_.get() + sample * each_;
    const std::int64_t used = of_ == BoundOf::group ? groups_of(clusters_) : clusters_;
    std::fill_n(bounds, used, lower > 0 ? store_lower(lower, {}) : 0);
    std::fill(bounds + used, bounds + each_, std::numeric_limits<float>::infinity());
  }

  /// No centroid of a slot's bound but the sample's own, as far as is known, is nearer than
  /// `lower`.
  void lower_to(std::int64_t sample, std::int64_t slot, float lower) const {
    const std::int64_t bound = of_ == BoundOf::group ? slot / kGroup : slot;
    const GroupBounds bounds = of_sample(sample);
    const Travel way = bounds.ways[bound];
    // A single centroid had no bound while it was the sample's own.
    const float now = of_ == BoundOf::group ? lower_now(bounds.lower[bound], way) : lower;
    bounds.lower[bound] = store_lower(now > lower ? lower : now > 0 ? now : 0, way);
  }

  BoundOf of() const { return of_; }
  GroupBounds of_sample(std::int64_t sample) const {
    return {lower_.get() + sample * each_, published_.data()};
  }

 private:
  // Whole vectors; nobody is behind the last one.
  static std::int64_t bounds_of_sample(BoundOf of, std::int64_t k) {
    const std::int64_t groups = groups_of(k);
    return of == BoundOf::centroid ? groups * kGroup : (groups + kGroup - 1) / kGroup * kGroup;
  }

  BoundOf of_ = BoundOf::group;
  std::int64_t clusters_ = 0;
  std::int64_t each_ = 0;           // bounds of a sample
  std::unique_ptr<float[]> lower_;  // samples x each_
  std::vector<double> ways_;        // of each bound
  std::vector<Travel> published_;   // likewise
};

}  // namespace lloyd_openmp
