// Device functions that store labels and list samples.
#pragma once

#include <cstdint>

#include "cuda-fast/decisions/decisions.hpp"

namespace lloyd_cuda_fast {

inline constexpr unsigned int kFullWarp = 0xffffffffu;

/// The nearest centroid of a row so far, by the definition: of equal distances, the lower index.
struct NearestCentroid {
  double distance = 0;
  std::int32_t label = -1;  ///< -1: none yet

  __device__ void update(double other, std::int32_t index) {
    if (label < 0 || other < distance || (other == distance && index < label)) {
      distance = other;
      label = index;
    }
  }
  /// The nearest of groups of `lanes` neighbouring lanes, in all of them. All lanes of a warp must
  /// call it.
  __device__ void reduce(int lanes) {
    for (int offset = 1; offset < lanes; offset *= 2) {
      const double other = __shfl_xor_sync(kFullWarp, distance, offset);
      const std::int32_t index = __shfl_xor_sync(kFullWarp, label, offset);
      if (index >= 0) update(other, index);
    }
  }
};

/// The position in a list for each lane of the warp with `adds`: one atomic addition per warp. All
/// lanes of a warp must call it.
__device__ inline unsigned int reserve_positions(unsigned int* count, bool adds) {
  const unsigned int lanes = __ballot_sync(kFullWarp, adds);
  const unsigned int lane = threadIdx.x % 32;
  unsigned int first = 0;
  if (lane == 0 && lanes != 0) first = atomicAdd(count, static_cast<unsigned int>(__popc(lanes)));
  first = __shfl_sync(kFullWarp, first, 0);
  return first + static_cast<unsigned int>(__popc(lanes & ((1u << lane) - 1)));
}

/// Stores the label of a row of the slab and lists the row if its label has changed. `former`: its
/// label before; `stores`: this lane has a label. All lanes of a warp must call it. Returns true if
/// the label has changed.
__device__ inline bool store_label(const DecisionArguments& decision, std::int32_t row,
                                   std::int32_t former, std::int32_t label, bool stores) {
  const bool changed = stores && former != label;
  if (changed) decision.pass.labels[decision.pass.rows.begin + row] = label;
  if (decision.changed.count != nullptr) {
    const unsigned int at = reserve_positions(decision.changed.count, changed);
    if (changed) {
      decision.changed.rows[at] = row;
      decision.changed.former[at] = former;
    }
  }
  return changed;
}
__device__ inline bool store_label(const DecisionArguments& decision, std::int32_t row,
                                   std::int32_t label, bool stores) {
  const std::int32_t former = stores ? decision.pass.labels[decision.pass.rows.begin + row] : label;
  return store_label(decision, row, former, label, stores);
}

/// Adds a row to a list. `adds`: this lane has one. All lanes of a warp must call it.
__device__ inline void add_row(const RowList& list, std::int32_t row, bool adds) {
  const unsigned int at = reserve_positions(list.count, adds);
  if (adds) list.rows[at] = row;
}

/// Adds the values of all threads of the block to a counter, which may be null. All of them must
/// call it.
__device__ inline void add_block_sum(unsigned long long* counter, unsigned int value) {
  __shared__ unsigned int total;
  __syncthreads();  // the last call may still be reading it
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  if (value != 0) atomicAdd(&total, value);
  __syncthreads();
  if (threadIdx.x == 0 && total != 0 && counter != nullptr) {
    atomicAdd(counter, static_cast<unsigned long long>(total));
  }
}

}  // namespace lloyd_cuda_fast
