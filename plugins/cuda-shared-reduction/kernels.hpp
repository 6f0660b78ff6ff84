// The kernels of cuda-shared-reduction, for samples in either layout. All arrays are device memory.
#pragma once

#include <cstdint>

#include "cuda/centroid_space.hpp"
#include "cuda/device.hpp"
#include "cuda/pass.hpp"

namespace lloyd_cuda_shared_reduction {

/// Where the centroids of a pass are read from: constant memory while they fit, else shared, else
/// global memory. `value_bytes`: of one value as the kernel reads it.
lloyd_cuda::CentroidSpace choose_space(std::int64_t clusters, std::int64_t features,
                                       std::int64_t value_bytes,
                                       const lloyd_cuda::DeviceLimits& limits);

/// Labels the rows of a pass, a thread a sample. `space`: as chosen for values of double where the
/// pass is in float64, else of T.
template <class T>
void enqueue_assignment(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                        lloyd_cuda::CentroidSpace space, const lloyd_cuda::DeviceLimits& limits,
                        int block_size);

/// Adds the rows of a pass, by its labels, to its totals: blocks for each cluster and feature,
/// whose threads sum and are then reduced as a tree. `block_size` is a power of two.
template <class T>
void enqueue_update(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                    const lloyd_cuda::DeviceLimits& limits, int block_size);

}  // namespace lloyd_cuda_shared_reduction
