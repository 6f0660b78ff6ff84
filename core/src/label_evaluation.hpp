// LabelEvaluation: judges labels by the definition over blocks of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <lloyd/dataset.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/plugin/exact_sum.hpp>

namespace lloyd {

/// Arithmetic is that of the thread's modes: hold a FloatEnvironment. What it is made of must
/// outlive it.
class LabelEvaluation {
 public:
  /// `labels` are in [0, k) where their inertia is wanted; centroids are k x d.
  LabelEvaluation(std::span<const double> centroids, std::int64_t features,
                  std::span<const std::int32_t> labels);

  /// Adds the inertia of rows `first`, `first` + 1, ... of the data set, which `block` holds.
  void add_inertia(std::int64_t first, const Matrix& block);
  /// Compares the labels of these rows with the definition.
  void compare(std::int64_t first, const Matrix& block);
  /// Compares those of `rows`, ascending rows of the data set, that are in the block. Takes them
  /// off the front of `rows`.
  void compare(std::int64_t first, const Matrix& block, std::span<const std::int64_t>& rows);

  /// Exact sum, rounded once.
  double inertia() const { return inertia_.value(); }
  const LabelCheck& check() const { return check_; }

 private:
  template <class T>
  void compare_row(std::int64_t row, const T* x);

  std::span<const double> centroids_;
  std::int64_t features_;
  std::int64_t clusters_;
  std::span<const std::int32_t> labels_;
  ExactSum inertia_;
  LabelCheck check_;
};

}  // namespace lloyd
