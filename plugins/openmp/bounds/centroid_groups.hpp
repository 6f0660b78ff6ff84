// CentroidGroups: centroids in groups of neighbours, packed for scans of single samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "common/score_limit.hpp"

namespace lloyd_openmp {

/// Centroids per group; they fill one or more vectors.
inline constexpr std::int64_t kGroupCentroids = 16;

constexpr std::int64_t groups_of(std::int64_t k) {
  return (k + kGroupCentroids - 1) / kGroupCentroids;
}

/// k centroids of d features in groups, relative to the origin. Slot s is lane s % kGroupCentroids
/// of group s / kGroupCentroids.
template <class Real>
struct GroupedCentroids {
  const Real* squared_norms;  ///< per slot; infinite for empty slots
  const Real* factors;        ///< -2 e: groups x d x kGroupCentroids
  const std::int32_t* centroid_of_slot;
  const std::int32_t* slot_of_centroid;
  std::int64_t groups;
  ScoreLimit<Real> limit;
};

/// Groups are formed once per fit, from centroids that are close to each other at that time.
template <class Real>
class CentroidGroups {
 public:
  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    return groups_of(k) * kGroupCentroids * ((d + 1) * static_cast<std::int64_t>(sizeof(Real)) + 8);
  }

  /// Forms the groups. `centroids`: k x d.
  void build(const double* centroids, std::int64_t k, std::int64_t d) {
    d_ = d;
    clusters_ = k;
    std::vector<std::int32_t> order(static_cast<std::size_t>(k));
    std::iota(order.begin(), order.end(), 0);
    split(centroids, order.begin(), order.end());
    labels_.assign(static_cast<std::size_t>(groups_of(k) * kGroupCentroids), 0);
    std::copy(order.begin(), order.end(), labels_.begin());
    slots_.resize(order.size());
    for (std::size_t s = 0; s < order.size(); ++s) {
      slots_[static_cast<std::size_t>(order[s])] = static_cast<std::int32_t>(s);
    }
    squared_norms_.assign(labels_.size(), std::numeric_limits<Real>::infinity());
    factors_.assign(labels_.size() * static_cast<std::size_t>(d), 0);
  }

  /// Current centroids: k x d. `origin`: d values.
  void set_centroids(const double* centroids, const Real* origin, const ScoreLimit<Real>& limit) {
    limit_ = limit;
    for (std::int64_t s = 0; s < clusters_; ++s) {
      const double* centroid = centroids + labels_[static_cast<std::size_t>(s)] * d_;
      double squared = 0;
      for (std::int64_t j = 0; j < d_; ++j) {
        const double e = centroid[j] - static_cast<double>(origin[j]);
        squared += e * e;
        factors_[static_cast<std::size_t>((s / kGroupCentroids * d_ + j) * kGroupCentroids +
                                          s % kGroupCentroids)] = static_cast<Real>(-2 * e);
      }
      squared_norms_[static_cast<std::size_t>(s)] = static_cast<Real>(squared);
    }
  }

  GroupedCentroids<Real> centroids() const {
    return {squared_norms_.data(), factors_.data(),      labels_.data(),
            slots_.data(),         groups_of(clusters_), limit_};
  }

 private:
  using Order = std::vector<std::int32_t>::iterator;

  // Splits a set along its widest feature, recursively, until each part is one group.
  void split(const double* centroids, Order begin, Order end) const {
    if (end - begin <= kGroupCentroids) return;
    std::int64_t widest = 0;
    double width = -1;
    for (std::int64_t j = 0; j < d_; ++j) {
      const auto less = [&](std::int32_t a, std::int32_t b) {
        return centroids[a * d_ + j] < centroids[b * d_ + j];
      };
      const auto [low, high] = std::minmax_element(begin, end, less);
      const double range = centroids[*high * d_ + j] - centroids[*low * d_ + j];
      if (range > width) {
        width = range;
        widest = j;
      }
    }
    // The lower part consists of full groups.
    const Order middle = begin + (groups_of(end - begin) + 1) / 2 * kGroupCentroids;
    std::nth_element(begin, middle, end, [&](std::int32_t a, std::int32_t b) {
      const double value_a = centroids[a * d_ + widest], value_b = centroids[b * d_ + widest];
      return value_a < value_b || (value_a == value_b && a < b);
    });
    split(centroids, begin, middle);
    split(centroids, middle, end);
  }

  std::int64_t d_ = 0;
  std::int64_t clusters_ = 0;
  std::vector<std::int32_t> labels_;  // centroid of each slot
  std::vector<std::int32_t> slots_;   // slot of each centroid
  std::vector<Real> squared_norms_;   // per slot
  std::vector<Real> factors_;         // groups x d x kGroupCentroids
  ScoreLimit<Real> limit_{};
};

}  // namespace lloyd_openmp
