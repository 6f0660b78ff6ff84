// BlockSums: exact sums of a block's samples in shared memory.
#pragma once

#include <cstdint>

#include "cuda/fused/configuration.hpp"
#include "cuda/passes/integer_sums.cuh"

namespace lloyd_cuda_fused {

// Threads per multiprocessor for which flushing the block's sums still pays.
inline constexpr int kThreadsPerMultiprocessor = 1024;

/// Sums and counts, or their changes, of one tile in shared memory: clusters from `first_cluster`
/// on, features from `first_feature` on.
struct BlockSums {
  Tile tile;
  unsigned int* sums;
  unsigned int* counts;
  std::int64_t first_cluster;
  std::int64_t first_feature;

  __device__ BlockSums(const Tile& of, unsigned int* memory, std::int64_t cluster,
                       std::int64_t feature)
      : tile(of),
        sums(memory),
        counts(memory + of.copies * of.copy_step),
        first_cluster(cluster),
        first_feature(feature) {}

  /// Clears the sums. All threads of the block must call it, followed by a barrier.
  __device__ void clear() {
    for (std::int64_t i = threadIdx.x; i < tile.copies * tile.copy_step; i += blockDim.x) {
      sums[i] = 0;
    }
    for (std::int64_t i = threadIdx.x; i < tile.copies * tile.clusters; i += blockDim.x) {
      counts[i] = 0;
    }
  }

  /// The address at which this thread adds feature `first_feature` of a cluster of the tile.
  __device__ unsigned int* sum_of(std::int64_t cluster) {
    const int copy = static_cast<int>(threadIdx.x) % tile.copies;
    return sums + copy * tile.copy_step + (cluster - first_cluster) * tile.cluster_step;
  }
  __device__ void count(std::int64_t cluster, int change = 1) {
    const int copy = static_cast<int>(threadIdx.x) % tile.copies;
    atomicAdd(counts + copy * tile.clusters + (cluster - first_cluster),
              static_cast<unsigned int>(change));
  }

  /// The sum of all copies of a limb of a cell of the tile. Must be separated by a barrier from
  /// additions, as total() and total_count().
  __device__ long long limb_total(std::int64_t cluster, std::int64_t feature, int limb) const {
    const unsigned int* const cell =
        sums + cluster * tile.cluster_step + feature + limb * tile.limb_stride;
    long long sum = 0;
    for (int copy = 0; copy < tile.copies; ++copy) {
      sum += static_cast<int>(cell[copy * tile.copy_step]);
    }
    return sum;
  }
  /// The sum of all copies of a cell of the tile, and the count of a cluster of the tile.
  __device__ lloyd_cuda::DeviceInt128 total(std::int64_t cluster, std::int64_t feature,
                                            int limbs) const {
    lloyd_cuda::DeviceInt128 value{0, 0};
    for (int limb = 0; limb < limbs; ++limb) {
      value = value + lloyd_cuda::limb_value(limb_total(cluster, feature, limb), limb);
    }
    return value;
  }
  __device__ long long total_count(std::int64_t cluster) const {
    long long count = 0;
    for (int copy = 0; copy < tile.copies; ++copy) {
      count += static_cast<int>(counts[copy * tile.clusters + cluster]);
    }
    return count;
  }

  /// Adds all copies to the totals. All threads of the block must call it, between two barriers.
  __device__ void flush(const lloyd_cuda::Totals& totals, const lloyd_cuda::SumScale& scale,
                        std::int64_t clusters, std::int64_t features) {
    const std::int64_t cells = tile.clusters * tile.features;
    for (std::int64_t at = threadIdx.x; at < cells; at += blockDim.x) {
      const std::int64_t cluster = at / tile.features;
      const std::int64_t feature = at - cluster * tile.features;
      if (first_cluster + cluster >= clusters || first_feature + feature >= features) continue;
      const lloyd_cuda::DeviceInt128 value = total(cluster, feature, scale.shared_limbs);
      if (value.low == 0 && value.high == 0) continue;
      lloyd_cuda::atomic_add(
          totals.sums + (first_cluster + cluster) * features + first_feature + feature, value);
    }
    if (first_feature != 0) return;
    for (std::int64_t c = threadIdx.x; c < tile.clusters; c += blockDim.x) {
      const long long count = total_count(c);
      if (count == 0) continue;
      atomicAdd(totals.counts + first_cluster + c, static_cast<unsigned long long>(count));
    }
  }
};

}  // namespace lloyd_cuda_fused
