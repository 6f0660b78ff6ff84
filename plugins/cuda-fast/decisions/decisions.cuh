// Device functions that store labels and list samples.
#pragma once

#include <cstdint>

#include "cuda-fast/decisions/decisions.hpp"

namespace lloyd_cuda_fast {

inline constexpr unsigned int kFullWarp = 0xffffffffu;

/// The position in a list for each lane of the warp with `adds`: one atomic addition per warp. All
/// lanes of a warp must call it.
__device__ inline unsigned int reserve(unsigned int* count, bool adds) {
  const unsigned int lanes = __ballot_sync(kFullWarp, adds);
  const unsigned int lane = threadIdx.x % 32;
  unsigned int first = 0;
  if (lane == 0 && lanes != 0) first = atomicAdd(count, static_cast<unsigned int>(__popc(lanes)));
  first = __shfl_sync(kFullWarp, first, 0);
  return first + static_cast<unsigned int>(__popc(lanes & ((1u << lane) - 1)));
}

/// Stores the label of a row of the slab and lists the row if its label has changed. `stores`: this
/// lane has a label. All lanes of a warp must call it. Returns true if the label has changed.
__device__ inline bool store_label(const Decision& decision, std::int32_t row, std::int32_t label,
                                   bool stores) {
  std::int32_t* const labels = decision.pass.labels + decision.pass.rows.begin;
  const std::int32_t former = stores ? labels[row] : label;
  const bool changed = former != label;
  if (changed) labels[row] = label;
  if (decision.changed.count != nullptr) {
    const unsigned int at = reserve(decision.changed.count, changed);
    if (changed) {
      decision.changed.rows[at] = row;
      decision.changed.former[at] = former;
    }
  }
  return changed;
}

/// Lists a row of the slab for the decision among all centroids. `hard`: this lane has one. All
/// lanes of a warp must call it.
__device__ inline void list_hard(const HardSamples& samples, std::int32_t row, bool hard) {
  const unsigned int at = reserve(samples.count, hard);
  if (hard) samples.rows[at] = row;
}

/// Classifies a row of the slab by its scores. `exists`: this lane has a row. All lanes of a warp
/// must call it. Returns 1 if the label has changed.
__device__ inline unsigned int classify(const Classification& classification, std::int32_t row,
                                        bool exists, float best, float second,
                                        std::int32_t nearest) {
  const Decision& decision = classification.decision;
  const float2 norms = classification.norms[exists ? row : 0];
  const float error =
      score_error(norms.x, norms.y, *classification.centroids, classification.steps);
  const bool proven = proves_label(best, second, error);
  const bool changed = store_label(decision, row, nearest, exists && proven);
  const bool open = exists && !proven;
  const unsigned int slot = reserve(decision.open.count, open);
  if (open) decision.open.rows[slot] = row;
  if (open && slot < decision.open.capacity) {
    decision.open.limits[slot] = candidate_limit(best, error);
    decision.open.candidate_counts[slot] = 0;
  }
  return changed ? 1 : 0;
}

/// Adds the changed labels of the threads of a warp to the pass. All of them must call it. Kernels
/// with much dynamic shared memory use it, since they cannot have static shared memory.
__device__ inline void count_changes_of_warp(const lloyd_cuda::Pass& pass, unsigned int changed) {
  for (int offset = 16; offset > 0; offset /= 2) {
    changed += __shfl_xor_sync(kFullWarp, changed, offset);
  }
  if (threadIdx.x % 32 == 0 && changed != 0 && pass.changed != nullptr) {
    atomicAdd(pass.changed, static_cast<unsigned long long>(changed));
  }
}

/// Adds the changed labels of all threads of the block to the pass. All of them must call it.
__device__ inline void count_changes(const lloyd_cuda::Pass& pass, unsigned int changed) {
  __shared__ unsigned int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  if (changed != 0) atomicAdd(&total, changed);
  __syncthreads();
  if (threadIdx.x == 0 && total != 0 && pass.changed != nullptr) {
    atomicAdd(pass.changed, static_cast<unsigned long long>(total));
  }
}

}  // namespace lloyd_cuda_fast
