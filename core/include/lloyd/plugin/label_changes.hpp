// LabelChanges: what a step tells of samples whose label changed.
#pragma once

#include <cstdint>

#include <lloyd/plugin/cluster_sums.hpp>
#include <lloyd/plugin/dataset_view.hpp>

namespace lloyd {

/// Keeps the sums of clusters in step with labels that change: after a few iterations that is far
/// less work than to add up all samples, with the same bits, since the sums are exact. T: type of
/// the samples.
template <class T>
class LabelChanges {
 public:
  /// What the arguments refer to must outlive it. The sums are of an integer form.
  LabelChanges(const DatasetView& dataset, ClusterSums& sums, const SumKernels<T>& kernels)
      : dataset_(dataset), sums_(sums), kernels_(kernels) {}

  /// Sample `row` of the data set leaves cluster `from` (-1: it had none) for another one.
  void add(std::int64_t row, std::int32_t from, std::int32_t to) {
    sums_.move(static_cast<const T*>(dataset_.data) + row * dataset_.stride, from, to);
  }

  /// `count` of such samples, by the step's SumKernels.
  void add(const LabelChange* changes, std::int64_t count) {
    add(static_cast<const T*>(dataset_.data), dataset_.stride, changes, count);
  }

  /// The same, where a change's `row` is that of `samples`, copies of the data set's rows `stride`
  /// values apart.
  void add(const T* samples, std::int64_t stride, const LabelChange* changes, std::int64_t count) {
    sums_.move(samples, stride, changes, count, kernels_);
  }

  /// Samples of the data set that had no labels: labels[0] is that of sample `rows.begin`.
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
