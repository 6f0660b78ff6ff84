// LabelEvaluation: compares labels with the definition, block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <lloyd/dataset.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/plugin/abi/exact_sum.hpp>

#include "evaluation/label_screen.hpp"
#include "parallel/range_workers.hpp"

namespace lloyd {

/// Computes with the given threads; the results do not depend on them. The arguments of the
/// constructor must outlive it.
class LabelEvaluation {
 public:
  /// Centroids are k x d. Labels must be in [0, k) if add_inertia() is called.
  LabelEvaluation(std::span<const double> centroids, std::int64_t features,
                  std::span<const std::int32_t> labels, const RangeWorkers& workers);

  /// Adds the inertia of the rows of `block`, which begins at row `first` of the data set.
  void add_inertia(std::int64_t first, const Matrix& block);
  /// Compares the labels of all rows of `block` with the definition.
  void compare(std::int64_t first, const Matrix& block);
  /// Compares the labels of those `rows` (ascending rows of the data set) that are in the block,
  /// and removes them from the front of `rows`.
  void compare(std::int64_t first, const Matrix& block, std::span<const std::int64_t>& rows);

  /// The inertia of all rows so far, summed exactly and rounded once.
  double inertia() const { return inertia_.value(); }
  const ExactSum& exact_inertia() const { return inertia_; }
  const LabelCheck& check() const { return check_; }

 private:
  template <class RowAt>
  void compare_rows(std::int64_t first, const Matrix& block, std::int64_t count,
                    const RowAt& row_at);
  template <class T, class RowAt>
  LabelCheck compare_range(std::int64_t first, const Matrix& block, RowRange range,
                           const RowAt& row_at) const;
  template <class T>
  void judge(std::int64_t row, const T* x, const LabelScreen::Finding& finding,
             LabelCheck& check) const;

  std::span<const double> centroids_;
  std::int64_t features_;
  std::int64_t clusters_;
  std::span<const std::int32_t> labels_;
  const RangeWorkers& workers_;
  std::optional<LabelScreen> screen_;  ///< made by the first comparison that is large enough
  ExactSum inertia_;
  LabelCheck check_;
};

}  // namespace lloyd
