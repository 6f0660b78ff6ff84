// LabelChangeSums: updates cluster sums from changed labels.
#pragma once

#include <algorithm>
#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// True if all labels are in [0, clusters).
inline bool are_labels(const std::int32_t* labels, std::int64_t count, std::int64_t clusters) {
  constexpr std::int64_t kMaxLabels = std::int64_t{1} << 31;
  const auto last = static_cast<std::int32_t>(std::min(clusters, kMaxLabels) - 1);
  std::int32_t below = 0;
  std::int32_t above = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    below |= labels[i];
    above |= static_cast<std::int32_t>(labels[i] > last);
  }
  return below >= 0 && above == 0;
}

/// Moves the samples whose label changed from the sum of their former cluster to that of the new
/// one. After a few iterations few labels change, so this costs far less than summing all samples,
/// and gives the same bits because the sums are exact. T: type of the samples.
template <class T>
class LabelChangeSums {
 public:
  /// The data set and the sums must outlive it. `sums` must have an integer form.
  LabelChangeSums(const DatasetView& dataset, ClusterSums& sums, const SumKernels<T>& kernels)
      : dataset_(dataset), sums_(sums), kernels_(kernels) {}

  /// Moves sample `row` of the data set from cluster `from` (-1: it had none) to cluster `to`.
  void add(std::int64_t row, std::int32_t from, std::int32_t to) {
    const LabelChange change{row, from, to};
    if (!accepts(&change, 1)) return;
    sums_.move(static_cast<const T*>(dataset_.data) + row * dataset_.stride, from, to);
  }

  /// Moves `count` samples, with the step's SumKernels.
  void add(const LabelChange* changes, std::int64_t count) {
    add(static_cast<const T*>(dataset_.data), dataset_.stride, changes, count);
  }

  /// The same for copied rows: LabelChange::row indexes `samples`, whose rows are `stride` values
  /// apart.
  void add(const T* samples, std::int64_t stride, const LabelChange* changes, std::int64_t count) {
    if (accepts(changes, count)) add_unchecked(samples, stride, changes, count);
  }

  /// The same without a check of the labels, which costs 5 % of an iteration with few features. A
  /// label that add() would not accept makes it write out of bounds.
  void add_unchecked(const T* samples, std::int64_t stride, const LabelChange* changes,
                     std::int64_t count) {
    sums_.move(samples, stride, changes, count, kernels_);
  }

  /// Adds the rows of a range, which had no labels before; labels[0] is the label of row
  /// `rows.begin`.
  void add(RowRange rows, const std::int32_t* labels) {
    if (!are_labels(labels, rows.size(), sums_.clusters())) {
      is_valid_ = false;
      return;
    }
    sums_.add(static_cast<const T*>(dataset_.data) + rows.begin * dataset_.stride, dataset_.stride,
              rows.size(), labels, kernels_);
  }

  /// False if a call with a label that is no cluster was ignored.
  bool is_valid() const { return is_valid_; }

 private:
  bool accepts(const LabelChange* changes, std::int64_t count) {
    const std::int64_t clusters = sums_.clusters();
    bool valid = true;
    for (std::int64_t i = 0; i < count; ++i) {
      valid = valid && changes[i].from < clusters && changes[i].to >= 0 && changes[i].to < clusters;
    }
    is_valid_ = is_valid_ && valid;
    return valid;
  }

  const DatasetView& dataset_;
  ClusterSums& sums_;
  SumKernels<T> kernels_;
  bool is_valid_ = true;
};

}  // namespace lloyd
