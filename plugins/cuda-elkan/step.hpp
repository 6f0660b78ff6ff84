// ElkanStep: the state between the passes of a fit, and the kernels of a pass.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cuda/device/device.hpp"
#include "cuda/passes/pass.hpp"
#include "cuda/resident/resident_samples.hpp"
#include "cuda/resident/row_stream.hpp"
#include "kernels.hpp"
#include "plan.hpp"

namespace lloyd_cuda_elkan {

/// The plan of a fit with `clusters` clusters, for a limit in MiB (0: the device's memory) and the
/// device's memory in bytes (0: unknown).
Plan plan_for(const lloyd::ProblemShape& shape, std::int64_t limit_mebibytes,
              std::int64_t card_bytes);

/// The status that refuses a plan that is not feasible.
lloyd::Status refusal(const lloyd::ProblemShape& shape, const Plan& plan,
                      std::int64_t limit_mebibytes, std::int64_t card_bytes);

/// Exact assignment with bounds. The first pass of a fit computes all distances and stores no
/// bounds, because the first drift of the centroids, the largest of all, would make them useless.
/// The second pass computes all distances and stores bounds; the later ones use them.
template <class T>
class ElkanStep final : public lloyd_cuda::Step<T> {
 public:
  /// `stream` and the arrays of `dataset` must outlive the step. Throws StatusError.
  ElkanStep(const lloyd::DatasetView& dataset, std::int64_t limit_mebibytes, int block_size,
            const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream);

  using CancelRequested = typename lloyd_cuda::Step<T>::CancelRequested;
  void prepare(std::int64_t clusters, const CancelRequested& cancel_requested) override;
  void assign(const lloyd_cuda::Pass& pass) override;
  // Batches wait for the device and the first passes allocate, so they cannot be recorded in a
  // graph.
  bool repeats() const override { return keeps_all_rows() && has_bounds_ && has_totals_; }
  bool counts_distances() const override { return true; }
  bool streams_samples() const override { return batches_ != nullptr; }
  std::int64_t distances() override;
  using Body = typename lloyd_cuda::Step<T>::Body;
  void for_each_part(lloyd::RowRange rows, const std::int32_t* skip, const Body& body) override;
  std::string notes() const override;

 private:
  // Device memory that depends on the number of clusters, allocated on first use.
  struct State {
    lloyd_cuda::DeviceBuffer<float> upper, lower, group_bounds, separations;
    lloyd_cuda::DeviceBuffer<double> drift_totals;  // k centroids, groups, and all
    lloyd_cuda::DeviceBuffer<Drift> drifts;         // of the same, rounded outward
    lloyd_cuda::DeviceBuffer<unsigned int> group_moves;
    lloyd_cuda::DeviceBuffer<std::uint32_t> listed, changed;
    lloyd_cuda::DeviceBuffer<double> own_distances;
    lloyd_cuda::DeviceBuffer<std::int32_t> former_labels;
    lloyd_cuda::DeviceBuffer<lloyd::SumWords> sums;
    lloyd_cuda::DeviceBuffer<unsigned long long> counts;
  };

  Plan plan(std::int64_t clusters) const;
  bool keeps_all_rows() const;
  void hold_samples();
  bool takes_bounds(const lloyd_cuda::Pass& pass) const;
  void take_bounds();
  void take_totals();
  lloyd_cuda::Totals totals() const { return {state_.sums.data(), state_.counts.data()}; }
  SampleBounds bounds() const;
  CentroidMoves moves() const;

  lloyd::DatasetView dataset_;
  std::int64_t limit_mebibytes_;
  std::int64_t card_bytes_;
  Grid grid_;
  cudaStream_t stream_;

  std::int64_t clusters_ = 0;
  CancelRequested never_ = lloyd_cuda::Step<T>::never_cancelled;
  const CancelRequested* cancel_requested_ = &never_;
  Plan plan_;
  std::unique_ptr<lloyd_cuda::ResidentSamples<T>> resident_;
  std::unique_ptr<lloyd_cuda::RowStream<T>> batches_;
  std::int64_t batch_rows_ = 0;
  State state_;
  lloyd_cuda::DeviceBuffer<Work> work_{1};
  bool has_bounds_ = false;  // allocated; Work::ready tells whether they are set
  bool has_totals_ = false;  // state_.sums belong to the current labels
};

}  // namespace lloyd_cuda_elkan
