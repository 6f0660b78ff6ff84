// The kernels of cuda-fused. Samples are in device memory.
#pragma once

#include "cuda/fused/configuration.hpp"
#include "cuda/fused/fused_pass.hpp"
#include "cuda/passes/finish_pass.hpp"

namespace lloyd_cuda_fused {

/// The layout that the kernels need for d features: row-major if the lanes of a warp add a row
/// together, else feature-major.
lloyd_cuda::Layout layout_for(std::int64_t features, bool float32);

/// Labels the rows of a pass. If the configuration is fused and the pass accumulates, the same
/// kernel adds them to the totals, and finishes the iteration if `finish` is given. If it is not
/// fused, the kernel adds them only if sums_changes_only().
template <class T>
void enqueue_pass(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                  const Configuration& configuration, Device& device,
                  const lloyd_cuda::Finish& finish = {});

/// Runs `count` iterations over all samples in one block, for problems too small to fill more. They
/// alternate between two sets of arguments, neither of which has a Finish::ring.
template <class T>
void enqueue_iterations(const lloyd_cuda::IterationArguments& first,
                        const lloyd_cuda::IterationArguments& second, int count,
                        const lloyd_cuda::Samples<T>& samples, const Configuration& configuration,
                        Device& device);

/// Adds the rows of a pass to its totals by their labels, one tile of clusters and features at a
/// time.
template <class T>
void enqueue_accumulation(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                          const Configuration& configuration,
                          const lloyd_cuda::DeviceLimits& limits, int block_size);

}  // namespace lloyd_cuda_fused
