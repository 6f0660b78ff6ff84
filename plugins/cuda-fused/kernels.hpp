// The kernels of cuda-fused. Samples are in device memory.
#pragma once

#include "configuration.hpp"
#include "cuda/pass.hpp"

namespace lloyd_cuda_fused {

/// The layout that the kernels want for d features: rows one after the other where the lanes of a
/// warp add up a row together, else feature by feature.
lloyd_cuda::Layout layout_for(std::int64_t features, bool float32);

/// Labels the rows of a pass and, where the configuration is fused and the pass accumulates, adds
/// them up in the same kernel.
template <class T>
void enqueue_pass(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                  const Configuration& configuration, const lloyd_cuda::DeviceLimits& limits,
                  int block_size);

/// Adds up the rows of a pass by its labels, a tile of clusters and features at a time.
template <class T>
void enqueue_accumulation(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                          const Configuration& configuration,
                          const lloyd_cuda::DeviceLimits& limits, int block_size);

}  // namespace lloyd_cuda_fused
