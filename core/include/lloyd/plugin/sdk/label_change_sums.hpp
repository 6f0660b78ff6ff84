// LabelChangeSums: updates cluster sums from changed labels.
#pragma once

#include <algorithm>
#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd {

/// True if all labels are in [0, clusters).
inline bool are_valid_labels(const std::int32_t* labels, std::int64_t count,
                             std::int64_t clusters) {
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

/// A label outside [0, clusters).
struct InvalidLabel {
  std::int64_t row = -1;   ///< of the data set; -1: unknown
  std::int32_t label = 0;  ///< its value
  bool is_former = false;  ///< reported as the former label of a change
};

/// Finds the first label outside [0, clusters). There must be one. labels[0] is the label of row
/// `first_row`.
inline InvalidLabel find_invalid_label(const std::int32_t* labels, std::int64_t first_row,
                                       std::int64_t clusters) {
  std::int64_t i = 0;
  while (labels[i] >= 0 && labels[i] < clusters) ++i;
  return {first_row + i, labels[i], false};
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
    if (!accepts(&change, 1, true)) return;
    sums_.move(static_cast<const T*>(dataset_.data) + row * dataset_.stride, from, to);
  }

  /// Moves `count` samples, with the step's SumKernels.
  void add(const LabelChange* changes, std::int64_t count) {
    if (!accepts(changes, count, true)) return;
    add_unchecked(static_cast<const T*>(dataset_.data), dataset_.stride, changes, count);
  }

  /// The same for copied rows: LabelChange::row indexes `samples`, whose rows are `stride` values
  /// apart.
  void add(const T* samples, std::int64_t stride, const LabelChange* changes, std::int64_t count) {
    if (accepts(changes, count, false)) add_unchecked(samples, stride, changes, count);
  }

  /// The same without checking labels (the check costs 5 % of an iteration with few features). A
  /// label that add() would not accept makes it write out of bounds.
  void add_unchecked(const T* samples, std::int64_t stride, const LabelChange* changes,
                     std::int64_t count) {
    sums_.move(samples, stride, changes, count, kernels_);
  }

  /// Adds the rows of a range, which had no labels before; labels[0] is the label of row
  /// `rows.begin`.
  void add(RowRange rows, const std::int32_t* labels) {
    if (!are_valid_labels(labels, rows.size(), sums_.clusters())) {
      reject(find_invalid_label(labels, rows.begin, sums_.clusters()));
      return;
    }
    sums_.add(static_cast<const T*>(dataset_.data) + rows.begin * dataset_.stride, dataset_.stride,
              rows.size(), labels, kernels_);
  }

  /// False if a call was ignored because a label was outside [0, clusters).
  bool is_valid() const { return is_valid_; }
  /// The first invalid label of the first ignored call.
  const InvalidLabel& invalid_label() const { return invalid_label_; }

 private:
  // `rows_of_dataset`: LabelChange::row is a row of the data set.
  bool accepts(const LabelChange* changes, std::int64_t count, bool rows_of_dataset) {
    const std::int64_t clusters = sums_.clusters();
    bool valid = true;
    for (std::int64_t i = 0; i < count; ++i) {
      valid = valid && changes[i].from < clusters && changes[i].to >= 0 && changes[i].to < clusters;
    }
    if (!valid) reject(find_invalid(changes, rows_of_dataset));
    return valid;
  }

  // The first label of the changes outside [0, clusters); a negative former label means none.
  InvalidLabel find_invalid(const LabelChange* change, bool rows_of_dataset) const {
    const std::int64_t clusters = sums_.clusters();
    while (change->from < clusters && change->to >= 0 && change->to < clusters) ++change;
    const bool is_former = change->from >= clusters;
    return {rows_of_dataset ? change->row : -1, is_former ? change->from : change->to, is_former};
  }

  void reject(const InvalidLabel& label) {
    if (is_valid_) invalid_label_ = label;
    is_valid_ = false;
  }

  const DatasetView& dataset_;
  ClusterSums& sums_;
  SumKernels<T> kernels_;
  bool is_valid_ = true;
  InvalidLabel invalid_label_;  // if not valid
};

}  // namespace lloyd
