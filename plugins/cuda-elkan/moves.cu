// Drifts and separations of the centroids between two passes.
#include "block.cuh"
#include "cuda/device/check.hpp"
#include "cuda/device/shared_memory.hpp"
#include "kernels.hpp"
#include "tile.cuh"

namespace lloyd_cuda_elkan {
namespace {

constexpr int kThreads = 256;

// Values are >= 0, for which floats and their bit patterns have the same order.
__device__ void atomic_min(float* lowest, float value) {
  atomicMin(reinterpret_cast<unsigned*>(lowest), __float_as_uint(value));
}

// One warp per centroid. The order of summation differs from the definition's; the margins of the
// bounds cover that.
__global__ void move_kernel(lloyd_cuda::Pass pass, std::int64_t d, SampleBounds bounds,
                            CentroidMoves moves) {
  if (block_halted(pass.halt)) return;
  const int lane = threadIdx.x % kWarp;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (kThreads / kWarp);
  for (std::int64_t c =
           static_cast<std::int64_t>(blockIdx.x) * (kThreads / kWarp) + threadIdx.x / kWarp;
       c < pass.clusters; c += warps) {
    double sum = 0;
    for (std::int64_t j = lane; j < d; j += kWarp) {
      sum = lloyd_cuda::add_square(
          sum, lloyd_cuda::subtract(pass.centroids[c * d + j], pass.former_centroids[c * d + j]));
    }
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      sum = __dadd_rn(sum, __shfl_xor_sync(kFullWarp, sum, offset));
    }
    if (lane != 0) continue;
    const float move = upper_bound(sum);
    const double total = add_up(moves.total[c], static_cast<double>(move));
    moves.total[c] = total;
    moves.drift[c] = round_outward(total);
    atomicMax(moves.group_move + c / bounds.group_size, __float_as_uint(move));
    atomicMax(moves.group_move + bounds.count, __float_as_uint(move));
  }
}

// One thread per group, and one for all centroids.
__global__ void group_move_kernel(lloyd_cuda::Pass pass, SampleBounds bounds, CentroidMoves moves,
                                  Work* work) {
  if (block_halted(pass.halt)) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) work->ready = work->filled;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       g <= bounds.count; g += step) {
    const bool of_all = g == bounds.count;
    double* total = of_all ? moves.total_of_all : moves.group_total + g;
    const auto move = static_cast<double>(__uint_as_float(moves.group_move[g]));
    *total = add_up(*total, move);
    *(of_all ? moves.drift_of_all : moves.group_drift + g) = round_outward(*total);
    moves.group_move[g] = 0;
  }
}

// One warp per tile of distances, 32 centroids by 16.
__global__ void __launch_bounds__(kMaxWarpThreads)
    separation_kernel(lloyd_cuda::Pass pass, std::int64_t d, SampleBounds bounds,
                      CentroidMoves moves, Work* work) {
  extern __shared__ TileMemory memories[];
  if (block_halted(pass.halt)) return;
  const int lane = threadIdx.x % kWarp;
  TileMemory& memory = memories[threadIdx.x / kWarp];
  const std::int64_t k = pass.clusters;
  const std::int64_t column_tiles = (k + kTileColumns - 1) / kTileColumns;
  const std::int64_t tiles = (k + kTileRows - 1) / kTileRows * column_tiles;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / kWarp);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    // All pairs of centroids, and each centroid's distance to its former position.
    atomicAdd(&work->distances, static_cast<unsigned long long>(k * (k + 1)));
  }
  for (std::int64_t tile =
           static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
       tile < tiles; tile += warps) {
    const std::int64_t row = tile / column_tiles * kTileRows;
    const std::int64_t column = tile % column_tiles * kTileColumns;
    const int row_count = static_cast<int>(k - row < kTileRows ? k - row : kTileRows);
    const int column_count =
        static_cast<int>(k - column < kTileColumns ? k - column : kTileColumns);
    tile_distances(pass.centroids + row * d, d, row_count, pass.centroids + column * d,
                   column_count, d, memory);
    if (lane >= row_count) continue;  // no barrier until the next tile
    const std::int64_t centroid = row + lane;
    float nearest = FLT_MAX;
    float in_group = FLT_MAX;
    for (int q = 0; q < column_count; ++q) {
      const std::int64_t other = column + q;
      if (other != centroid) in_group = fminf(in_group, lower_bound(memory.result(lane, q)));
      if (((other + 1) & (bounds.group_size - 1)) != 0 && q + 1 < column_count) continue;
      if (moves.separation != nullptr) {
        atomic_min(moves.separation + centroid * bounds.count + other / bounds.group_size,
                   in_group);
      }
      nearest = fminf(nearest, in_group);
      in_group = FLT_MAX;
    }
    atomic_min(moves.nearest_other + centroid, nearest);
  }
}

__global__ void begin_kernel(lloyd_cuda::Pass pass, Work* work) {
  if (block_halted(pass.halt)) return;
  if (work->all != 0) {
    work->per_sample *= 0.5f;  // no measurement; bounds get better as the fit converges
  } else if (work->listed > 0) {
    work->per_sample = static_cast<float>(work->scanned) / static_cast<float>(work->listed);
  }
  work->scanned = 0;
  work->listed = 0;
  work->changed = 0;
  work->all = 0;
}

}  // namespace

void enqueue_moves(const lloyd_cuda::Pass& pass, std::int64_t features, const SampleBounds& bounds,
                   const CentroidMoves& moves, Work* work, const Grid& grid) {
  const auto blocks_for = [&](std::int64_t count, std::int64_t per_block, int threads) {
    return grid.blocks((count + per_block - 1) / per_block, threads);
  };
  move_kernel<<<blocks_for(pass.clusters, kThreads / kWarp, kThreads), kThreads, 0, pass.stream>>>(
      pass, features, bounds, moves);
  lloyd_cuda::check_launch("move_kernel");
  group_move_kernel<<<blocks_for(bounds.count + 1, kThreads, kThreads), kThreads, 0, pass.stream>>>(
      pass, bounds, moves, work);
  lloyd_cuda::check_launch("group_move_kernel");

  // Initialises minima: 0x7f in every byte is the float 3.4e38.
  const std::int64_t separations =
      pass.clusters * (moves.separation != nullptr ? 1 + bounds.count : std::int64_t{1});
  lloyd_cuda::check(
      cudaMemsetAsync(moves.nearest_other, 0x7f,
                      static_cast<std::size_t>(separations) * sizeof(float), pass.stream),
      "filling device memory");
  const int threads = grid.threads(sizeof(TileMemory));
  const std::int64_t warps = threads / kWarp;
  const std::int64_t tiles = ((pass.clusters + kTileRows - 1) / kTileRows) *
                             ((pass.clusters + kTileColumns - 1) / kTileColumns);
  const std::size_t shared = static_cast<std::size_t>(warps) * sizeof(TileMemory);
  lloyd_cuda::allow_shared_memory(separation_kernel, static_cast<std::int64_t>(shared),
                                  grid.shared_bytes);
  separation_kernel<<<blocks_for(tiles, warps, threads), threads, shared, pass.stream>>>(
      pass, features, bounds, moves, work);
  lloyd_cuda::check_launch("separation_kernel");
}

void enqueue_begin(const lloyd_cuda::Pass& pass, Work* work) {
  begin_kernel<<<1, 1, 0, pass.stream>>>(pass, work);
  lloyd_cuda::check_launch("begin_kernel");
}

}  // namespace lloyd_cuda_elkan
