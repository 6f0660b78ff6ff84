// Device functions that store labels and list samples.
#pragma once

#include <cfloat>
#include <cstdint>

#include "cuda-fast/decisions/decisions.hpp"

namespace lloyd_cuda_fast {

inline constexpr unsigned int kFullWarp = 0xffffffffu;

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

/// Stores the label of a row of the slab and lists the row if its label has changed. `stores`: this
/// lane has a label. All lanes of a warp must call it. Returns true if the label has changed.
__device__ inline bool store_label(const DecisionArguments& decision, std::int32_t row,
                                   std::int32_t label, bool stores) {
  std::int32_t* const labels = decision.pass.labels + decision.pass.rows.begin;
  const std::int32_t former = stores ? labels[row] : label;
  const bool changed = former != label;
  if (changed) labels[row] = label;
  if (decision.changed.count != nullptr) {
    const unsigned int at = reserve_positions(decision.changed.count, changed);
    if (changed) {
      decision.changed.rows[at] = row;
      decision.changed.former[at] = former;
    }
  }
  return changed;
}

/// Adds a row to a list. `adds`: this lane has one. All lanes of a warp must call it.
__device__ inline void add_row(const RowList& list, std::int32_t row, bool adds) {
  const unsigned int at = reserve_positions(list.count, adds);
  if (adds) list.rows[at] = row;
}

/// Classifies a row of the slab by its scores. `exists`: this lane has a row. All lanes of a warp
/// must call it. Returns 1 if the label has changed.
__device__ inline unsigned int classify(const ClassificationArguments& classification,
                                        std::int32_t row, bool exists, float best, float second,
                                        std::int32_t nearest) {
  const DecisionArguments& decision = classification.decision;
  const float2 norms = classification.norms[exists ? row : 0];
  const ScreenError error =
      ScreenError::of_image(norms.x, norms.y, *classification.centroids, classification.steps);
  // If all centroids are so far from the sample that a column beyond the last one may have the
  // lowest score, or if that may be the score of a far centroid, all of them are candidates.
  const bool may_be_far =
      classification.centroids->has_far != 0 && !is_distinct(best, second, error);
  const bool is_centroid = best < kMinPaddingScore && nearest < decision.pass.clusters &&
                           !may_be_far && (classification.far[nearest] & kFarInImage) == 0;
  const bool proven = is_centroid && proves_label(best, second, error);
  const bool changed = store_label(decision, row, nearest, exists && proven);
  const bool open = exists && !proven;
  const unsigned int slot = reserve_positions(decision.open.count, open);
  const bool has_slot = open && slot < decision.open.capacity;
  if (has_slot) {
    decision.open.rows[slot] = row;
    decision.open.limits[slot] = is_centroid ? candidate_limit(best, error) : FLT_MAX;
    decision.open.candidate_counts[slot] = 0;
  }
  add_row(decision.overflow, row, open && !has_slot);
  return changed ? 1 : 0;
}

/// Adds the values of the threads of a warp to a counter, which may be null. All of them must call
/// it. Uses no static shared memory: a kernel that takes all of it dynamically has none left.
__device__ inline void add_warp_sum(unsigned long long* counter, unsigned int value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(kFullWarp, value, offset);
  }
  if (threadIdx.x % 32 == 0 && value != 0 && counter != nullptr) {
    atomicAdd(counter, static_cast<unsigned long long>(value));
  }
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
