// WindowedFit: the passes of a fit of one process on a data set that is not in memory.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/plugin/sdk/fit_driver.hpp>

#include "distributed/local_passes.hpp"
#include "distributed/pass_message.hpp"
#include "distributed/pass_totals.hpp"
#include "fit/streamed_passes.hpp"
#include "session/sum_checks.hpp"

namespace lloyd {

/// Every pass sums only the samples whose label changed. The closing assignment also adds up all
/// samples by their labels before it, and compares these sums with those of the passes.
class WindowedFit final : public HostFitPasses {
 public:
  /// All arguments must outlive the passes. `session` offers `kernels` as its PassKernels.
  WindowedFit(Session& session, StreamedPasses& kernels, const Dataset& dataset,
              const SumPlan& plan, const FitSpec& spec, Observer* observer, FitResult& result);

  void assign() override;
  double inertia() override { return inertia_.value(); }
  const std::int32_t* labels() override { return labels_; }
  void close(FitResult& result) override;
  void report(FitResult& result) override;
  std::vector<FarSample> find_farthest(std::int64_t wanted) override;
  void move_sample(const Relocation& relocation, ClusterSums& sums) override;
  void recompute_sums(const std::vector<Relocation>& relocations, ClusterSums& sums) override;

 protected:
  ClusterSums& sum_labels() override;
  void check_new_centroids() override;
  std::int64_t changed() const override { return totals_.changed; }

 private:
  // Runs a pass and adds its numbers and counts to the totals.
  void run_pass(bool with_sums, PassMessage& message, ExactSum* inertia);

  StreamedPasses& kernels_;
  const Dataset& dataset_;
  const SumPlan& plan_;
  const FitSpec& spec_;
  Observer* observer_;
  std::vector<std::int32_t> own_labels_;
  std::int32_t* labels_;  // n: the caller's, or own_labels_
  SumLimbs limbs_;
  MeanCheck mean_check_;
  PassTotals totals_;
  ClusterSums sums_;  // a copy of its sums and counts, in which samples are relocated
  PassMessage message_;
  LocalPasses local_;
  ExactSum inertia_;
  double check_ms_ = 0;  // part of the closing assignment that is not the backend's
};

}  // namespace lloyd
