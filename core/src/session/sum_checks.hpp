// Checks the cluster sums that a backend's passes return.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// Checks that the mean of every cluster is in the range of the data, in two steps of an update:
/// check_before_relocation(), then check_means(). Sums (k x d) and counts (k) are those of all
/// rows.
class MeanCheck {
 public:
  /// `plan` and `statistics` (one per feature) must outlive this object.
  MeanCheck(const SumPlan& plan, const FeatureStatistics* statistics);

  /// check() if a cluster has no samples: the means would not show its sum, and after a relocation
  /// they are no longer those of the sums.
  void check_before_relocation(const std::vector<SumWords>& sums,
                               const std::vector<std::int64_t>& counts) const;
  /// check() unless contains() shows, in a fraction of its time, that it would accept the sums.
  void check_means(std::span<const double> means, const std::vector<SumWords>& sums,
                   const std::vector<std::int64_t>& counts) const;

  /// True if all `means` (k x d) are in the range of the data. This implies that check() accepts
  /// their sums, except those of clusters without samples.
  bool contains(std::span<const double> means) const;
  /// Throws StatusError if the mean of a cluster is not finite or is outside of the range of the
  /// data, or if a cluster without samples has a sum. The message names the sum.
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
