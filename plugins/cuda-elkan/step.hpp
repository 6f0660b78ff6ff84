// ElkanStep: what is kept between the passes of a fit, and which kernels a pass takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "batches.hpp"
#include "cuda/device.hpp"
#include "cuda/pass.hpp"
#include "cuda/resident_samples.hpp"
#include "kernels.hpp"
#include "plan.hpp"

namespace lloyd_cuda_elkan {

/// The plan of a fit with `clusters` clusters, for a limit in MiB (0: the card's) and a card's
/// memory (0: not known).
Plan plan_for(const lloyd::ProblemShape& shape, std::int64_t limit_mebibytes,
              std::int64_t card_bytes);

/// Why a plan that is not feasible is refused.
lloyd::Status refusal(const lloyd::ProblemShape& shape, const Plan& plan,
                      std::int64_t limit_mebibytes, std::int64_t card_bytes);

/// Exact assignments with bounds. The first pass of a fit computes all distances and no bounds,
/// which the first move of the centroids, the largest of all, would spoil: the second pass leaves
/// them, and the others use them.
template <class T>
class ElkanStep final : public lloyd_cuda::Step<T> {
 public:
  /// `dataset` and `stream` must outlive it. Throws StatusError.
  ElkanStep(const lloyd::DatasetView& dataset, std::int64_t limit_mebibytes, int block_size,
            const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream);

  using CancelRequested = typename lloyd_cuda::Step<T>::CancelRequested;
  void prepare(std::int64_t clusters, const CancelRequested& cancel_requested) override;
  void assign(const lloyd_cuda::Pass& pass) override;
  std::int64_t distances() override;
  using Body = typename lloyd_cuda::Step<T>::Body;
  void for_each_part(lloyd::RowRange rows, const Body& body) override;
  std::string notes() const override;

 private:
  // Device memory that belongs to a number of clusters; taken when it is first needed.
  struct State {
    lloyd_cuda::DeviceBuffer<float> upper, lower, group_bounds, separations;
    lloyd_cuda::DeviceBuffer<double> drift_totals;  // k, groups, all
    lloyd_cuda::DeviceBuffer<Drift> drifts;         // the same
    lloyd_cuda::DeviceBuffer<unsigned int> group_moves;
    lloyd_cuda::DeviceBuffer<std::uint32_t> listed, changed;
    lloyd_cuda::DeviceBuffer<double> own_distances;
    lloyd_cuda::DeviceBuffer<std::int32_t> former_labels;
    lloyd_cuda::DeviceBuffer<lloyd::SumWords> sums;
    lloyd_cuda::DeviceBuffer<unsigned long long> counts;
  };

  Plan plan(std::int64_t clusters) const;
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
  const CancelRequested* cancel_requested_ = nullptr;
  Plan plan_;
  std::unique_ptr<lloyd_cuda::ResidentSamples<T>> resident_;
  std::unique_ptr<Batches<T>> batches_;
  std::int64_t batch_rows_ = 0;
  State state_;
  lloyd_cuda::DeviceBuffer<Work> work_{1};
  bool has_bounds_ = false;  // memory for them; Work::ready says whether there is something in it
  bool has_totals_ = false;  // state_.sums are those of the labels
};

}  // namespace lloyd_cuda_elkan
