// What the kernels share: the flag that ends them, lists, and counts of warps.
#pragma once

#include <cstdint>

namespace lloyd_cuda_elkan {

inline constexpr unsigned kFullWarp = 0xffffffffu;
inline constexpr int kWarp = 32;

/// Whether the pass is over. One thread decides for its block, since the flag may be raised at any
/// moment. All threads of the block call it.
__device__ inline bool block_halted(const std::int32_t* halt) {
  const bool halted = threadIdx.x == 0 && *static_cast<const volatile std::int32_t*>(halt) != 0;
  return __syncthreads_or(halted) != 0;
}

/// The place of a thread in a list of device or shared memory that warps append to; all lanes call
/// it, those that do not append get a place that is not theirs.
__device__ inline unsigned append(bool appends, unsigned* count) {
  const unsigned lanes = __ballot_sync(kFullWarp, appends);
  const unsigned lane = threadIdx.x % kWarp;
  unsigned first = 0;
  if (lane == 0 && lanes != 0) first = atomicAdd(count, static_cast<unsigned>(__popc(lanes)));
  first = __shfl_sync(kFullWarp, first, 0);
  return first + static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)));
}

/// Adds how many lanes say so to a count in device memory. All lanes call it.
__device__ inline void add_count(bool counts, unsigned long long* count) {
  const unsigned lanes = __ballot_sync(kFullWarp, counts);
  if (threadIdx.x % kWarp == 0 && lanes != 0) {
    atomicAdd(count, static_cast<unsigned long long>(__popc(lanes)));
  }
}

}  // namespace lloyd_cuda_elkan
