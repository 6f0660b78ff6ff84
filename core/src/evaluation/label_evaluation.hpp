// LabelEvaluation: compares labels with the definition, block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <lloyd/dataset.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/plugin/abi/exact_sum.hpp>

namespace lloyd {

/// Computes in the floating-point modes of the thread: the caller holds a FloatEnvironment. The
/// arguments of the constructor must outlive it.
class LabelEvaluation {
 public:
  /// Centroids are k x d. Labels must be in [0, k) if add_inertia() is called.
  LabelEvaluation(std::span<const double> centroids, std::int64_t features,
                  std::span<const std::int32_t> labels);

  /// Adds the inertia of the rows of `block`, which begins at row `first` of the data set.
  void add_inertia(std::int64_t first, const Matrix& block);
  /// Compares the labels of all rows of `block` with the definition.
  void compare(std::int64_t first, const Matrix& block);
  /// Compares the labels of those `rows` (ascending rows of the data set) that are in the block,
  /// and removes them from the front of `rows`.
  void compare(std::int64_t first, const Matrix& block, std::span<const std::int64_t>& rows);

  /// The inertia of all rows so far, summed exactly and rounded once.
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
