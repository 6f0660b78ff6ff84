// DeviceLoop::DrivenPasses: the state of passes that the host runs one by one.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/sdk/total_changes.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/loop/loop.hpp"

namespace lloyd_cuda {

/// Labels and totals stay on the device. Changes of the totals are computed here.
template <class T>
struct DeviceLoop<T>::DrivenPasses {
  /// `plan` must outlive the passes.
  DrivenPasses(const lloyd::SumPlan& plan, const lloyd::PassOptions& options)
      : limbs(options.limbs),
        centroids(options.clusters * plan.features),
        words(options.clusters * plan.features),
        counts(options.clusters),
        changes(plan, options.clusters) {}

  lloyd::SumLimbs limbs;
  std::int64_t passes = 0;              ///< finished; pass i has the buffers of iteration i
  std::int64_t distances = 0;           ///< of all passes, if the step counts them
  PinnedBuffer<double> centroids;       ///< k x d: those of the last pass, for their upload
  PinnedBuffer<lloyd::SumWords> words;  ///< k x d: of the last pass
  PinnedBuffer<std::int64_t> counts;    ///< k: the same
  lloyd::TotalChanges changes;
};

}  // namespace lloyd_cuda
