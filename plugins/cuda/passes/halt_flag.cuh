// The halt flag in kernels.
#pragma once

#include <cstdint>

namespace lloyd_cuda {

/// Thread 0: true if the pass is halted. Other threads: false. The flag may be set at any time, so
/// only one thread reads it, and the block must share its result by __syncthreads_or(). If other
/// loads are issued before that, their latencies overlap this one's.
__device__ inline bool read_halted(const std::int32_t* halt) {
  return threadIdx.x == 0 && *static_cast<const volatile std::int32_t*>(halt) != 0;
}

/// True if the pass is halted. All threads of the block must call it.
__device__ inline bool block_halted(const std::int32_t* halt) {
  return __syncthreads_or(read_halted(halt)) != 0;
}

}  // namespace lloyd_cuda
