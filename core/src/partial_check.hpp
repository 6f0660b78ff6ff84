// What a partial pass of a backend returned is checked before anybody indexes or decides with it.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/plugin/cluster_sums.hpp>
#include <lloyd/plugin/dataset_view.hpp>
#include <lloyd/plugin/requests.hpp>

namespace lloyd {

/// One call of Session::partial() on a block: made before the call, with what the call changes.
class PartialCheck {
 public:
  /// `given`: as the call is handed it. It and `request` must outlive the check.
  PartialCheck(const PartialRequest& request, const PartialResult& given);

  /// After the call. Throws StatusError where a label, a far sample or a number is out of its
  /// range, `changed` is not the number of labels that differ, the counts did not grow by those of
  /// the labels, or a far sample has another label.
  void check(const PartialResult& returned) const;

 private:
  void check_labels(const PartialResult& returned) const;
  void check_farthest(const PartialResult& returned) const;

  const PartialRequest& request_;
  std::int32_t* labels_;  // as handed to the call, as is the next
  std::int64_t* counts_;
  std::vector<std::int32_t> former_labels_;
  std::vector<std::int64_t> former_counts_;
};

/// Throws StatusError where the mean of a cluster, by sums and counts of all rows, is not finite or
/// outside of the values of the data set, which no mean can be.
void check_means(const SumPlan& plan, const FeatureStatistics* statistics,
                 const std::vector<SumWords>& sums, const std::vector<std::int64_t>& counts);

/// Throws StatusError where sums that a backend returned are not those of the same samples in
/// `expected`: equal integers, or compensated sums as near as two orders of summation are.
void check_sums(const SumPlan& plan, const FeatureStatistics* statistics,
                const std::vector<SumWords>& sums, ClusterSums& expected);

}  // namespace lloyd
