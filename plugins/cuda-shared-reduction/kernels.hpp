// The kernels of cuda-shared-reduction, for samples in either layout. All arrays are device memory.
#pragma once

#include <cstdint>

#include "cuda/device/device.hpp"
#include "cuda/passes/centroid_space.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd_cuda_shared_reduction {

/// The memory space of a pass's centroids: constant memory if they fit, else shared, else global
/// memory. `value_bytes` is the size of a value as the kernel reads it.
lloyd_cuda::CentroidSpace choose_space(std::int64_t clusters, std::int64_t features,
                                       std::int64_t value_bytes,
                                       const lloyd_cuda::DeviceLimits& limits);

/// Labels the rows of a pass, one thread per sample. `space` was chosen for values of double if the
/// pass is in float64, else of T.
template <class T>
void enqueue_assignment(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                        lloyd_cuda::CentroidSpace space, const lloyd_cuda::DeviceLimits& limits,
                        int block_size);

/// Adds the rows of a pass to its totals by their labels: the threads of the blocks of each cluster
/// and feature sum rows, then reduce as a tree. `block_size` must be a power of two.
template <class T>
void enqueue_update(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                    const lloyd_cuda::DeviceLimits& limits, int block_size);

}  // namespace lloyd_cuda_shared_reduction
