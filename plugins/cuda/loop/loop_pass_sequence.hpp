// DeviceLoop::PassSequence: the state of passes that the host runs one by one.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/pass_kernels.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/loop/loop.hpp"

namespace lloyd_cuda {

/// Labels and totals stay on the device, which computes the changes of the totals.
template <class T>
struct DeviceLoop<T>::PassSequence {
  /// `features`: d. Allocates; throws StatusError.
  PassSequence(const lloyd::PassOptions& options, std::int64_t features)
      : limbs(options.limbs),
        centroids(options.clusters * features),
        sum_changes(options.clusters * features),
        count_changes(options.clusters) {}

  lloyd::SumLimbs limbs;
  std::int64_t passes = 0;  ///< finished; pass i has the buffers of iteration i
  /// Step::distances() at the last PassResult. After a reset of the step: minus the distances that
  /// have not been reported.
  std::int64_t reported_distances = 0;
  std::int64_t reported_fallbacks = 0;        ///< the same for Step::exact_fallbacks()
  bool is_running = false;                    ///< work of a pass may be on the stream
  PinnedBuffer<double> centroids;             ///< k x d: those of the last pass, for their upload
  PinnedBuffer<lloyd::SumWords> sum_changes;  ///< k x d: change by the last pass
  PinnedBuffer<unsigned long long> count_changes;  ///< k: the same, modulo 2^64
};

}  // namespace lloyd_cuda
