#include "cuda/fused/configuration.hpp"

#include <algorithm>

namespace lloyd_cuda_fused {

using lloyd_cuda::CentroidSpace;

namespace {

// Maximum shared memory of a block for centroids, and for sums in the kernel that labels; with
// more, too few blocks share a multiprocessor.
constexpr std::int64_t kCentroidBytes = 64 * 1024;
constexpr std::int64_t kFusedBytes = 96 * 1024;
constexpr std::int64_t kTileBytes = 96 * 1024;
// Words of sums in all copies together; with more copies, collisions in a warp are already rare.
constexpr std::int64_t kCopiedWords = 2048;
constexpr std::int64_t kMaxCopies = 16;

constexpr std::int64_t kCentroidsTogether = 4;

Tile tile_of(std::int64_t clusters, std::int64_t features, int limbs) {
  Tile tile;
  tile.clusters = clusters;
  tile.features = features;
  tile.cluster_step = features | 1;
  tile.limb_stride = clusters * tile.cluster_step;
  tile.copy_step = (limbs * tile.limb_stride) | 1;
  tile.copies =
      static_cast<int>(std::clamp<std::int64_t>(kCopiedWords / tile.copy_step, 1, kMaxCopies));
  return tile;
}

// The largest size in 1..most that fits, reduced so that all tiles are about equally large; 1 if
// none fits.
template <class Fits>
std::int64_t even_share(std::int64_t most, const Fits& fits) {
  std::int64_t fitting = 1;
  for (std::int64_t beyond = most + 1; beyond - fitting > 1;) {
    const std::int64_t middle = fitting + (beyond - fitting) / 2;
    (fits(middle) ? fitting : beyond) = middle;
  }
  const std::int64_t tiles = (most + fitting - 1) / fitting;
  return (most + tiles - 1) / tiles;
}

// All clusters and as many features as fit; else one feature of as many clusters as fit.
Tile largest_tile(const Request& request, std::int64_t bytes) {
  const auto fits = [&](std::int64_t clusters, std::int64_t features) {
    return tile_of(clusters, features, request.limbs).bytes() <= bytes;
  };
  const std::int64_t features =
      even_share(request.features, [&](std::int64_t j) { return fits(request.clusters, j); });
  const std::int64_t clusters =
      even_share(request.clusters, [&](std::int64_t c) { return fits(c, features); });
  return tile_of(clusters, features, request.limbs);
}

}  // namespace

Configuration choose(const Request& request, const lloyd_cuda::DeviceLimits& limits) {
  const std::int64_t most = limits.shared_bytes_per_block;
  // Padded, because the compiler loads the last centroids of an unrolled loop together before it
  // checks how many are left.
  const std::int64_t padded =
      (request.clusters + kCentroidsTogether - 1) / kCentroidsTogether * kCentroidsTogether;
  const std::int64_t centroids =
      request.labeller_bytes + padded * request.features * request.centroid_bytes;
  Configuration configuration;
  const bool in_float32 = request.centroid_bytes == 4;
  configuration.block_size =
      std::min(request.block_size, max_block_size(request.features, in_float32));
  const std::int64_t queues = Configuration::queue_bytes(configuration.block_size);
  configuration.space = request.space;
  if (request.space == CentroidSpace::shared) {
    if (centroids <= std::min(kCentroidBytes, most - queues)) {
      configuration.centroids_bytes = (centroids + 7) / 8 * 8;  // aligned for what follows
    } else {
      configuration.space = CentroidSpace::global;
    }
  } else if (request.space == CentroidSpace::constant && centroids > lloyd_cuda::kConstantBytes) {
    configuration.space = CentroidSpace::global;
  }
  configuration.tile = tile_of(request.clusters, request.features, request.limbs);
  const std::int64_t all = configuration.centroids_bytes + configuration.tile.bytes() + queues;
  configuration.fused = !request.split && configuration.tile.bytes() <= kFusedBytes && all <= most;
  if (!configuration.fused) {
    configuration.tile = largest_tile(request, std::min(kTileBytes, most));
  }
  configuration.tile_bytes = configuration.tile.bytes();
  return configuration;
}

std::string note_of(const Request& request, const Configuration& configuration, bool accumulates) {
  std::string note = lloyd_cuda::note_of(configuration.space);
  if (configuration.block_size < request.block_size) {
    note += ", blocks of " + std::to_string(configuration.block_size) + " threads";
  }
  if (!accumulates) return note;
  if (configuration.fused) return note + ", sums in the same kernel";
  const std::int64_t tiles = configuration.tile.count(request.clusters, request.features);
  note +=
      request.sums_only_changes ? ", first sums in a second kernel" : ", sums in a second kernel";
  if (tiles > 1) note += " in " + std::to_string(tiles) + " tiles";
  return note;
}

}  // namespace lloyd_cuda_fused
