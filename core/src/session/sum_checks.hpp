// Checks the cluster sums that a backend's passes return.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// Checks that the mean of every cluster is in the range of the data. contains() is the fast test;
/// check() names the faulty sum.
class MeanCheck {
 public:
  /// `plan` and `statistics` (one per feature) must outlive this object.
  MeanCheck(const SumPlan& plan, const FeatureStatistics* statistics);

  /// True if all `means` (k x d) are in the range of the data. This implies that check() accepts
  /// their sums, except those of clusters without samples.
  bool contains(std::span<const double> means) const;
  /// Throws StatusError if the mean of a cluster, from the sums and counts of all rows, is not
  /// finite or is outside of the range of the data, or if a cluster without samples has a sum.
  void check(const std::vector<SumWords>& sums, const std::vector<std::int64_t>& counts) const;

 private:
  const SumPlan& plan_;
  const FeatureStatistics* statistics_;
  // Per feature: the range of check(), and the slightly smaller one of contains().
  std::vector<double> least_, greatest_;
  std::vector<double> centers_, half_widths_;
};

/// Throws StatusError unless the returned sums match `expected`, the sums of the same samples:
/// integer forms must be equal, compensated sums must agree up to the rounding of another order of
/// summation.
void check_sums(const SumPlan& plan, const FeatureStatistics* statistics,
                const std::vector<SumWords>& sums, ClusterSums& expected);

}  // namespace lloyd
