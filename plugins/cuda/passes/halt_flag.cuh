// The halt flag in kernels.
#pragma once

#include <cstdint>

namespace lloyd_cuda {

/// Whether the pass is halted, in thread 0; false in the other threads, since the flag may be set
/// at any time. The block shares it by __syncthreads_or(), which may follow later: other loads then
/// hide the latency of this one.
__device__ inline bool read_halted(const std::int32_t* halt) {
  return threadIdx.x == 0 && *static_cast<const volatile std::int32_t*>(halt) != 0;
}

/// True if the pass is halted. All threads of the block must call it.
__device__ inline bool block_halted(const std::int32_t* halt) {
  return __syncthreads_or(read_halted(halt)) != 0;
}

}  // namespace lloyd_cuda
