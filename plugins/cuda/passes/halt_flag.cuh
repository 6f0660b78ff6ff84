// The halt flag in kernels.
#pragma once

#include <cstdint>

namespace lloyd_cuda {

/// True if the pass is halted. One thread reads the flag for its block, since it may be set at any
/// time. All threads of the block must call it.
__device__ inline bool block_halted(const std::int32_t* halt) {
  const bool halted = threadIdx.x == 0 && *static_cast<const volatile std::int32_t*>(halt) != 0;
  return __syncthreads_or(halted) != 0;
}

}  // namespace lloyd_cuda
