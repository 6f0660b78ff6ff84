// Helpers that the kernels share: lists, and counts per warp.
#pragma once

#include <cstdint>

#include "cuda/passes/halt_flag.cuh"

namespace lloyd_cuda_elkan {

using lloyd_cuda::block_halted;

inline constexpr unsigned kFullWarp = 0xffffffffu;
inline constexpr int kWarp = 32;

/// The index of this thread's entry in a list (device or shared memory) to which warps append. All
/// lanes must call it; the result is meaningless for lanes that do not append.
__device__ inline unsigned append(bool appends, unsigned* count) {
  const unsigned lanes = __ballot_sync(kFullWarp, appends);
  const unsigned lane = threadIdx.x % kWarp;
  unsigned first = 0;
  if (lane == 0 && lanes != 0) first = atomicAdd(count, static_cast<unsigned>(__popc(lanes)));
  first = __shfl_sync(kFullWarp, first, 0);
  return first + static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)));
}

/// Adds the number of lanes with `counts` to a count in device memory. All lanes must call it.
__device__ inline void add_count(bool counts, unsigned long long* count) {
  const unsigned lanes = __ballot_sync(kFullWarp, counts);
  if (threadIdx.x % kWarp == 0 && lanes != 0) {
    atomicAdd(count, static_cast<unsigned long long>(__popc(lanes)));
  }
}

}  // namespace lloyd_cuda_elkan
