// LabelChanges: how a step reports samples whose label changed.
#pragma once

#include <cstdint>

#include <lloyd/plugin/cluster_sums.hpp>
#include <lloyd/plugin/dataset_view.hpp>

namespace lloyd {

/// Updates cluster sums when labels change. After a few iterations this is far less work than
/// adding up all samples, with the same bits, because the sums are exact. T: type of the samples.
template <class T>
class LabelChanges {
 public:
  /// The arguments must outlive it. The sums must be of an integer form.
  LabelChanges(const DatasetView& dataset, ClusterSums& sums, const SumKernels<T>& kernels)
      : dataset_(dataset), sums_(sums), kernels_(kernels) {}

  /// Sample `row` of the data set moves from cluster `from` (-1: none) to cluster `to`.
  void add(std::int64_t row, std::int32_t from, std::int32_t to) {
    sums_.move(static_cast<const T*>(dataset_.data) + row * dataset_.stride, from, to);
  }

  /// Moves `count` samples, with the step's SumKernels.
  void add(const LabelChange* changes, std::int64_t count) {
    add(static_cast<const T*>(dataset_.data), dataset_.stride, changes, count);
  }

  /// The same for copies of samples: `row` of a change is the row in `samples`, `stride` values
  /// apart.
  void add(const T* samples, std::int64_t stride, const LabelChange* changes, std::int64_t count) {
    sums_.move(samples, stride, changes, count, kernels_);
  }

  /// Adds samples that had no label. labels[0] is the label of sample `rows.begin`.
  void add(RowRange rows, const std::int32_t* labels) {
    sums_.add(static_cast<const T*>(dataset_.data) + rows.begin * dataset_.stride, dataset_.stride,
              rows.size(), labels, kernels_);
  }

 private:
  const DatasetView& dataset_;
  ClusterSums& sums_;
  SumKernels<T> kernels_;
};

}  // namespace lloyd
