// GridSums: the sums that the blocks of a grid exchange in every iteration.
#pragma once

#include <cstdint>

#include "cuda/fused/block_sums.cuh"
#include "cuda/fused/iterations_layout.hpp"
#include "cuda/passes/integer_sums.cuh"

namespace lloyd_cuda_fused {

static_assert(kMaxLimbs * lloyd_cuda::kSharedLimbBits == 128);

/// Exact sums, counts and the number of changed labels of all blocks of a grid, and whether the fit
/// is cancelled, in device memory. Iteration i uses slot i % kGridSlots: blocks add to it, wait at
/// the barrier of the grid, and read it. While some blocks still read a slot, others may already
/// add to the next one. No block reads the slot of the iteration before any more, so it can be
/// cleared.
class GridSums {
 public:
  /// `memory`: kGridSlots * grid_slot_words(clusters, features, limbs) words of device memory.
  /// `limbs`: SumScale::shared_limbs.
  __device__ GridSums(unsigned long long* memory, std::int64_t clusters, std::int64_t features,
                      int limbs)
      : memory_(memory),
        clusters_(static_cast<int>(clusters)),
        features_(static_cast<int>(features)),
        cells_(clusters_ * features_),
        limbs_(limbs) {}

  /// Clears a slot. All threads of one block call it.
  __device__ void clear(int slot) const {
    unsigned long long* const words = words_of(slot);
    const auto size = static_cast<int>(grid_slot_words(clusters_, features_, limbs_));
    for (int i = static_cast<int>(threadIdx.x); i < size; i += static_cast<int>(blockDim.x)) {
      words[i] = 0;
    }
  }
  /// Adds the sums of a block. All threads of the block call it, between two barriers of the block.
  __device__ void add(int slot, const BlockSums& sums) const {
    unsigned long long* const words = words_of(slot);
    const int values = limbs_ * cells_;
    const auto threads = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < values; i += threads) {
      const int limb = i / cells_;
      const int at = i - limb * cells_;
      const int cluster = at / features_;
      add(words + i, sums.limb_total(cluster, at - cluster * features_, limb));
    }
    for (int c = static_cast<int>(threadIdx.x); c < clusters_; c += threads) {
      add(words + values + c, sums.total_count(c));
    }
  }
  /// Adds the number of labels that a block has changed. Called by one thread of the block.
  __device__ void add_changed(int slot, int labels) const { add(changed_word(slot), labels); }
  /// Cancels the fit for all blocks. Called by one thread of the grid.
  __device__ void cancel(int slot) const { *(changed_word(slot) + 1) = 1; }

  // After the barrier of the grid: results of all blocks. They are read from L2, because the L1
  // caches of multiprocessors are not coherent.

  __device__ lloyd_cuda::DeviceInt128 sum(int slot, int cluster, int feature) const {
    const unsigned long long* const words = words_of(slot) + cluster * features_ + feature;
    long long limbs[kMaxLimbs];
#pragma unroll
    for (int limb = 0; limb < kMaxLimbs; ++limb) {  // all loads before the first addition
      limbs[limb] = limb < limbs_ ? static_cast<long long>(__ldcg(words + limb * cells_)) : 0;
    }
    lloyd_cuda::DeviceInt128 value{0, 0};
#pragma unroll
    for (int limb = 0; limb < kMaxLimbs; ++limb) {
      value = value + lloyd_cuda::limb_value(limbs[limb], limb);
    }
    return value;
  }
  __device__ long long count(int slot, int cluster) const {
    return static_cast<long long>(__ldcg(words_of(slot) + limbs_ * cells_ + cluster));
  }
  __device__ long long changed(int slot) const {
    return static_cast<long long>(__ldcg(changed_word(slot)));
  }
  __device__ bool cancelled(int slot) const {
    return __ldcg(changed_word(slot) + 1) != 0;
  }

 private:
  __device__ unsigned long long* words_of(int slot) const {
    return memory_ + slot * grid_slot_words(clusters_, features_, limbs_);
  }
  __device__ unsigned long long* changed_word(int slot) const {
    return words_of(slot) + limbs_ * cells_ + clusters_;
  }
  __device__ static void add(unsigned long long* word, long long value) {
    if (value != 0) atomicAdd(word, static_cast<unsigned long long>(value));
  }

  unsigned long long* memory_;
  int clusters_;
  int features_;
  int cells_;
  int limbs_;
};

}  // namespace lloyd_cuda_fused
