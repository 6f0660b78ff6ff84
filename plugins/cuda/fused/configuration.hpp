// Configuration: memory spaces and tiles of a pass, chosen from the sizes.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/device/device_limits.hpp"
#include "cuda/passes/centroid_space.hpp"

namespace lloyd_cuda_fused {

/// Maximum threads of a block.
inline constexpr int kMaxBlockThreads = 1024;

/// Maximum threads per block of the first kernel for d features. In float32, rows of 32 features
/// are in registers, and a larger block does not have as many as its threads would need.
constexpr int max_block_size(std::int64_t features, bool in_float32) {
  return in_float32 && features == 32 ? 512 : kMaxBlockThreads;
}

/// Maximum limbs of a sum: of lloyd_cuda::kSharedLimbBits each, 128 bits together.
inline constexpr int kMaxLimbs = 128 / 16;

/// Shared memory of a warp for rows whose labels have changed.
inline constexpr int kQueueBytes = 768;

/// Problem size and parameters of a pass.
struct Request {
  std::int64_t clusters = 0;  ///< k
  std::int64_t features = 0;  ///< d
  /// Bytes per centroid value as the kernel reads it; 0: `labeller_bytes` includes the centroids.
  std::int64_t centroid_bytes = 0;
  /// Shared memory of the labeller, including its centroids if centroid_bytes is 0.
  std::int64_t labeller_bytes = 0;
  int limbs = 1;                   ///< lloyd_cuda::SumScale::shared_limbs
  int block_size = 1024;           ///< maximum threads per block, as requested
  bool split = false;              ///< true: a second kernel computes the sums
  bool sums_only_changes = false;  ///< true: later passes add changed samples in the first kernel
  lloyd_cuda::CentroidSpace space = lloyd_cuda::CentroidSpace::shared;
};

/// Layout of the block-local sums of a tile of clusters and features.
struct Tile {
  std::int64_t clusters = 0;  ///< clusters per tile; the last may have fewer
  std::int64_t features = 0;  ///< features per tile; the last may have fewer
  /// 32-bit words between clusters. Odd, so that lanes that add the same feature of different
  /// clusters access different banks.
  std::int64_t cluster_step = 0;
  std::int64_t limb_stride = 0;  ///< words between limbs of a sum
  std::int64_t copy_step = 0;    ///< words between copies; odd
  int copies = 0;                ///< copies of the sums; neighbouring threads use different ones
  /// Number of tiles for k x d.
  std::int64_t count(std::int64_t all_clusters, std::int64_t all_features) const {
    return ((all_features + features - 1) / features) * ((all_clusters + clusters - 1) / clusters);
  }
  /// Shared memory of all copies in bytes, including a 32-bit count per cluster and copy.
  std::int64_t bytes() const { return copies * (copy_step + clusters) * 4; }
};

/// The configuration of a pass.
struct Configuration {
  lloyd_cuda::CentroidSpace space = lloyd_cuda::CentroidSpace::global;
  int block_size = 0;                ///< maximum threads per block of the first kernel
  bool fused = false;                ///< true: the first kernel also computes the sums
  std::int64_t centroids_bytes = 0;  ///< shared memory of the labeller, centroids included; 0 if
                                     ///< they are elsewhere
  Tile tile;                         ///< the sums of a block; all of k x d if fused
  std::int64_t tile_bytes = 0;       ///< shared memory of `tile`

  /// Shared memory for the queues of a block of `threads` threads.
  static std::int64_t queue_bytes(int threads) { return threads / 32 * kQueueBytes; }
};

/// Chooses the configuration. Centroids that do not fit into the requested memory are read from
/// global memory; sums that do not fit beside them are computed by a second kernel.
Configuration choose(const Request& request, const lloyd_cuda::DeviceLimits& limits);

/// The note on a pass; `accumulates`: it computes cluster sums.
std::string note_of(const Request& request, const Configuration& configuration, bool accumulates);

}  // namespace lloyd_cuda_fused
