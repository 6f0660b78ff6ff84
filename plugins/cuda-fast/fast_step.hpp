// FastStep: passes of cuda-fast over resident or streamed samples.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

#include <lloyd/plugin/abi/backend.hpp>

#include "cuda-fast/conversions/converted_centroids.hpp"
#include "cuda-fast/conversions/sample_fragments.hpp"
#include "cuda-fast/decisions/decisions.hpp"
#include "cuda-fast/decisions/slab_sums.hpp"
#include "cuda-fast/fused/fused_pass.hpp"
#include "cuda-fast/screens/direct_screen.hpp"
#include "cuda-fast/screens/screen.hpp"
#include "cuda/device/device_limits.hpp"
#include "cuda/passes/pass.hpp"
#include "cuda/resident/sample_store.hpp"
#include "fast_plan.hpp"

namespace lloyd_cuda_fast {

/// The choices of the parameter `path`, in the order of its schema.
enum PathChoice : std::int64_t { kAutoPath, kWgmmaPath, kMmaPath, kDirectPath };

/// True if a device with tensor cores screens samples of d features on them, unless they suit one
/// pass.
constexpr bool may_use_tensor_cores(std::int64_t choice, std::int64_t features) {
  return choice == kAutoPath ? features >= kMinTensorCoreFeatures : choice != kDirectPath;
}

/// The path for a choice on a device. Throws StatusError `unsupported` if the device cannot take
/// it.
ScreenPath path_for(std::int64_t choice, std::int64_t features, int device);

/// Assigns samples slab by slab: a screen proves most labels, the definition decides the others,
/// and the samples whose label has changed are added to the sums. With few features and
/// clusters, one kernel labels and sums the samples instead.
template <class T>
class FastStep final : public lloyd_cuda::Step<T> {
 public:
  using CancelRequested = typename lloyd_cuda::Step<T>::CancelRequested;

  /// Copies the samples that fit, or reads those in device memory in place. The arrays of `dataset`
  /// must outlive the step. Throws StatusError.
  FastStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters,
           const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream);

  void prepare(std::int64_t clusters, const CancelRequested& cancel_requested) override;
  void assign(const lloyd_cuda::Pass& pass) override;
  bool assign_and_finish(const lloyd_cuda::Pass& pass, const lloyd_cuda::Finish& finish) override;
  bool run_iterations(const lloyd_cuda::IterationArguments& first,
                      const lloyd_cuda::IterationArguments& second, int count) override;
  void for_each_part(lloyd::RowRange rows, const std::int32_t* skip,
                     const typename lloyd_cuda::Step<T>::Body& body) override;
  bool sums_only_changes() const override { return true; }
  bool repeats() const override { return store_.is_resident(); }
  bool streams_samples() const override { return !store_.is_resident(); }
  std::int64_t exact_fallbacks() override;
  std::string notes() const override;

 private:
  /// The arrays of a slab, and what depends on k.
  struct Workspace {
    // Open, overflowing, hard and changed samples; k: entries of each cluster.
    lloyd_cuda::DeviceBuffer<unsigned int> counters;
    lloyd_cuda::DeviceBuffer<float> best;
    lloyd_cuda::DeviceBuffer<float> second;
    lloyd_cuda::DeviceBuffer<std::int32_t> nearest;
    lloyd_cuda::DeviceBuffer<std::int32_t> open_rows;
    lloyd_cuda::DeviceBuffer<float> candidate_limits;
    lloyd_cuda::DeviceBuffer<unsigned int> candidate_counts;
    lloyd_cuda::DeviceBuffer<std::int32_t> candidates;
    lloyd_cuda::DeviceBuffer<std::int32_t> overflow_rows;
    lloyd_cuda::DeviceBuffer<std::int32_t> hard_rows;
    ConvertedCentroids centroids;
    SlabSums sums;
  };

  void hold_samples(std::int64_t clusters);
  void hold_fragments();
  void allocate_workspace(std::int64_t clusters);
  bool uses_tensor_cores() const { return plan_.shape.is_feasible(); }
  Fragments fragments_of(std::int64_t first_row) const {
    return {fragments_.data(), norms_.data(), first_row, plan_.shape.steps};
  }
  FusedArguments fused_arguments(const lloyd_cuda::Pass& pass) const;
  void convert_centroids(const lloyd_cuda::Pass& pass) const;
  void assign_slab(const lloyd_cuda::Pass& slab, const lloyd_cuda::Samples<T>& samples);
  void screen_slab(DecisionArguments& decision, const lloyd_cuda::Samples<T>& samples);

  lloyd::DatasetView dataset_;
  lloyd_cuda_fused::Device device_;
  bool path_is_auto_;  // path=auto
  ScreenPath path_;
  bool failed_self_test_ = false;  // by the self-test
  std::int64_t limit_mebibytes_;
  std::int64_t card_bytes_;
  cudaStream_t stream_;
  CancelRequested never_cancelled_ = lloyd_cuda::Step<T>::never_cancelled;
  const CancelRequested* cancel_requested_ = &never_cancelled_;
  lloyd_cuda::SampleStore<T> store_;
  ResidentUnits units_;
  FusedUnits fused_units_;
  lloyd_cuda::DeviceBuffer<SampleNorms> largest_norms_{1};
  lloyd_cuda::DeviceBuffer<unsigned long long> fallbacks_{1};
  lloyd_cuda::DeviceBuffer<unsigned long long> grid_memory_;  // of lloyd_cuda_fused::GridSums
  FastPlan plan_;
  lloyd_cuda::DeviceBuffer<uint4> fragments_;  // of all samples, or of a slab
  lloyd_cuda::DeviceBuffer<float2> norms_;     // per row of the fragments
  bool has_all_fragments_ = false;             // the fragments of all samples are there
  std::int64_t clusters_ = 0;                  // k of the workspace
  std::unique_ptr<Workspace> workspace_;       // null before the first pass
};

}  // namespace lloyd_cuda_fast
