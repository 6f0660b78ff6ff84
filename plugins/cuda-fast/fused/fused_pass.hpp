// The fused kernel of cuda-fast: labels and sums samples, for few features and clusters.
#pragma once

#include "cuda-fast/fused/fused_plan.hpp"
#include "cuda/fused/fused_pass.hpp"

namespace lloyd_cuda_fast {

/// Arguments of the fused kernel. Pointers are device memory.
struct FusedArguments {
  FusedUnits units;
  const double* origin = nullptr;           ///< DeviceUnits::origin
  unsigned long long* fallbacks = nullptr;  ///< DecisionArguments::fallbacks
  lloyd_cuda_fused::Configuration configuration;
};

/// Enqueues a pass over resident row-major samples: labels, sums, and the end of the
/// iteration if `finish` is given.
template <class T>
void enqueue_fused_pass(const lloyd_cuda::Pass& pass, const lloyd_cuda::Samples<T>& samples,
                        const FusedArguments& arguments, lloyd_cuda_fused::Device& device,
                        const lloyd_cuda::Finish& finish = {});

/// Enqueues `count` iterations as one kernel; see launch_iterations().
template <class T>
void enqueue_fused_iterations(const lloyd_cuda::IterationArguments& first,
                              const lloyd_cuda::IterationArguments& second, int count,
                              const lloyd_cuda::Samples<T>& samples,
                              const FusedArguments& arguments, lloyd_cuda_fused::Device& device,
                              unsigned long long* grid_memory);

}  // namespace lloyd_cuda_fast
