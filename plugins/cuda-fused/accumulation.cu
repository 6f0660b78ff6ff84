// The second kernel of a split pass: cluster sums from labels, in tiles of shared memory.
#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/fused/block_sums.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_fused {
namespace {

using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

// blockIdx.y is the tile of clusters and features.
template <class T>
__global__ void accumulation_kernel(Pass pass, Samples<T> samples, Tile tile) {
  extern __shared__ unsigned int shared_sums[];
  if (*pass.halt != 0) return;
  const std::int64_t d = samples.features;
  const std::int64_t feature_tiles = (d + tile.features - 1) / tile.features;
  const std::int64_t cluster_tiles = (pass.clusters + tile.clusters - 1) / tile.clusters;
  for (std::int64_t t = blockIdx.y; t < feature_tiles * cluster_tiles; t += gridDim.y) {
    const std::int64_t first_feature = t % feature_tiles * tile.features;
    const std::int64_t first_cluster = t / feature_tiles * tile.clusters;
    const std::int64_t features =
        first_feature + tile.features < d ? tile.features : d - first_feature;
    BlockSums sums(tile, shared_sums, first_cluster, first_feature);
    sums.clear();
    __syncthreads();
    std::int64_t rows_since_flush = 0;
    for (std::int64_t begin = pass.rows.begin + static_cast<std::int64_t>(blockIdx.x) * blockDim.x;
         begin < pass.rows.end; begin += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
      if (rows_since_flush + blockDim.x > lloyd_cuda::kSharedLimbRows) {
        __syncthreads();
        sums.flush(pass.totals, pass.scale, pass.clusters, d);
        __syncthreads();
        sums.clear();
        __syncthreads();
        rows_since_flush = 0;
      }
      rows_since_flush += blockDim.x;
      const std::int64_t i = begin + threadIdx.x;
      if (i >= pass.rows.end) continue;
      const std::int64_t label = pass.labels[i];
      if (label < first_cluster || label >= first_cluster + tile.clusters) continue;
      const T* x = samples.row(i) + first_feature * samples.feature_stride;
      unsigned int* sum = sums.sum_of(label);
      for (std::int64_t j = 0; j < features; ++j) {
        lloyd_cuda::add_to_limbs(sum + j, tile.limb_stride, x[j * samples.feature_stride],
                                 pass.scale.exponents[first_feature + j]);
      }
      if (first_feature == 0) sums.count(label);
    }
    __syncthreads();
    sums.flush(pass.totals, pass.scale, pass.clusters, d);
    __syncthreads();
  }
}

}  // namespace

template <class T>
void enqueue_accumulation(const Pass& pass, const Samples<T>& samples,
                          const Configuration& configuration,
                          const lloyd_cuda::DeviceLimits& limits, int block_size) {
  if (pass.rows.size() == 0) return;
  const Tile& tile = configuration.tile;
  const std::int64_t tiles = tile.count(pass.clusters, samples.features);
  lloyd_cuda::allow_shared_memory(accumulation_kernel<T>, tile.bytes(),
                                  limits.shared_bytes_per_block);
  const std::int64_t row_blocks = (pass.rows.size() + block_size - 1) / block_size;
  const std::int64_t resident =
      limits.multiprocessors * std::max(kThreadsPerMultiprocessor / block_size, 1);
  const std::int64_t tile_blocks = std::min<std::int64_t>(tiles, 65535);
  const std::int64_t blocks =
      std::min(row_blocks, std::max<std::int64_t>((resident + tile_blocks - 1) / tile_blocks, 1));
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(tile_blocks));
  accumulation_kernel<T><<<grid, block_size, static_cast<std::size_t>(tile.bytes()), pass.stream>>>(
      pass, samples, tile);
  lloyd_cuda::check_launch("accumulation_kernel");
}

template void enqueue_accumulation(const Pass&, const Samples<float>&, const Configuration&,
                                   const lloyd_cuda::DeviceLimits&, int);
template void enqueue_accumulation(const Pass&, const Samples<double>&, const Configuration&,
                                   const lloyd_cuda::DeviceLimits&, int);

}  // namespace lloyd_cuda_fused
