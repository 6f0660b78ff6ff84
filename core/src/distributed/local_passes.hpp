// LocalPasses: the passes of one rank over its own rows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/plugin/sdk/total_changes.hpp>

#include "distributed/pass_message.hpp"

namespace lloyd {

/// Runs passes through PassKernels if the session has them and sums are integers, else through
/// partial(), with labels and former sums kept here. Methods throw StatusError.
class LocalPasses {
 public:
  /// `session` is null if the rank has no rows; passes then do nothing. `labels`: one per row, the
  /// caller's; null if labels are never requested. All references must outlive this object.
  LocalPasses(Session* session, const Dataset& dataset, const SumPlan& plan, std::int64_t clusters,
              const SumLimbs& limbs, std::int32_t* labels);
  ~LocalPasses();
  LocalPasses(const LocalPasses&) = delete;
  LocalPasses& operator=(const LocalPasses&) = delete;

  /// Labels all rows by `centroids` (k x d). Adds to `message` the changes of the counts, those of
  /// integer sums unless `with_sums` is false, and the numbers of changed labels, distances and
  /// exact fallbacks; adds the inertia to `inertia` unless it is null.
  void pass(std::span<const double> centroids, bool with_sums, Observer* observer,
            PassMessage& message, ExactSum* inertia);
  /// The farthest samples by labels and centroids of the last pass, with rows of this rank.
  std::vector<FarSample> find_farthest(std::int64_t wanted, Observer* observer);
  /// Writes the labels of the last pass to labels().
  void write_labels();
  /// The array of labels; null if there is none.
  std::int32_t* labels() { return labels_; }

 private:
  void pass_by_kernels(bool with_sums, Observer* observer, PassMessage& message, ExactSum* inertia);
  void pass_by_partial(bool with_sums, Observer* observer, PassMessage& message, ExactSum* inertia);

  Session* session_;
  PassKernels* kernels_ = nullptr;  // null: partial() is used
  const Dataset& dataset_;
  const SumPlan& plan_;
  std::int64_t clusters_;
  SumLimbs limbs_;
  std::int32_t* labels_;
  std::vector<std::int32_t> own_labels_;
  std::vector<double> centroids_;  // of the last pass, k x d
  bool has_labels_ = false;        // with kernels: after the first pass
  // With partial() only: sums and counts of the last pass.
  std::vector<SumWords> words_;
  std::vector<std::int64_t> counts_;
  std::optional<TotalChanges> changes_;
};

}  // namespace lloyd
