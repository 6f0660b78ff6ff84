// How a pass is laid out, chosen from the sizes.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/centroid_space.hpp"
#include "cuda/device_limits.hpp"

namespace lloyd_cuda_fused {

/// What is asked for.
struct Request {
  std::int64_t clusters = 0;        ///< k
  std::int64_t features = 0;        ///< d
  std::int64_t centroid_bytes = 0;  ///< of one value of a centroid as the kernel reads it
  int limbs = 1;                    ///< 64-bit words of a sum
  int block_size = 256;             ///< threads of a block
  bool split = false;               ///< whether sums are left to a second kernel
  lloyd_cuda::CentroidSpace space = lloyd_cuda::CentroidSpace::shared;
};

/// Block-local sums of a tile of clusters and features.
struct Tile {
  std::int64_t clusters = 0;  ///< of a tile; the last one may have fewer
  std::int64_t features = 0;  ///< likewise
  /// Words from one cluster to the next: odd, so that the lanes of a warp that add to the same
  /// feature of several clusters meet different banks.
  std::int64_t cluster_step = 0;
  std::int64_t limb_stride = 0;  ///< words from one limb of a sum to the next
  std::int64_t copy_step = 0;    ///< words from one copy to the next; odd
  int copies = 0;                ///< neighbouring threads add to different ones
  /// How many it takes for k x d.
  std::int64_t count(std::int64_t all_clusters, std::int64_t all_features) const {
    return ((all_features + features - 1) / features) * ((all_clusters + clusters - 1) / clusters);
  }
  /// Shared memory of all copies, with a 32-bit count per cluster and copy behind.
  std::int64_t bytes() const { return copies * (copy_step * 8 + clusters * 4); }
};

/// A pass.
struct Configuration {
  lloyd_cuda::CentroidSpace space = lloyd_cuda::CentroidSpace::global;
  bool fused = false;                ///< whether the first kernel also accumulates
  std::int64_t centroids_bytes = 0;  ///< of shared memory, where they lie there
  Tile tile;                         ///< all of k x d where fused
};

/// Chooses. Centroids that do not fit the memory asked for are read from global memory, and sums
/// that do not fit beside them are left to a second kernel.
Configuration choose(const Request& request, const lloyd_cuda::DeviceLimits& limits);

/// The note on a pass; `accumulates`: whether it adds up its samples.
std::string note_of(const Request& request, const Configuration& configuration, bool accumulates);

}  // namespace lloyd_cuda_fused
