// Assigns all samples by computing all distances, one warp for 32 samples. Optionally stores
// bounds.
#include "block.cuh"
#include "cuda/device/check.hpp"
#include "cuda/device/shared_memory.hpp"
#include "kernels.hpp"
#include "tile.cuh"

namespace lloyd_cuda_elkan {
namespace {

// Stores the bounds of 16 columns if each centroid is a group, written along rows.
template <class T>
__device__ void write_bounds(const Part<T>& part, std::int64_t first_row, int row_count,
                             std::int64_t first_column, int column_count,
                             const TileMemory& memory) {
  const int lane = threadIdx.x % kWarp;
  const int column = lane % kTileColumns;
  if (column >= column_count) return;
  const Drift drift = part.moves.group_drift[first_column + column];
  for (int row = lane / kTileColumns; row < row_count; row += kWarp / kTileColumns) {
    part.bounds.groups[(first_row + row) * part.bounds.count + first_column + column] =
        store_lower(lower_bound(memory.result(row, column)), drift);
  }
}

// Updates the lane's row with 16 columns for larger groups; the bound of a group is stored at its
// last column.
template <class T>
__device__ void add_groups(const Part<T>& part, std::int64_t row, bool valid,
                           std::int64_t first_column, int column_count, const TileMemory& memory,
                           NearestTwo& group, NearestTwo& all) {
  const int lane = threadIdx.x % kWarp;
  const std::int64_t size = part.bounds.group_size;
  for (int q = 0; q < column_count; ++q) {
    const std::int64_t c = first_column + q;
    group.add_in_group(memory.result(lane, q), static_cast<int>(c));
    if (((c + 1) & (size - 1)) != 0 && c + 1 < part.pass.clusters) continue;
    const std::int64_t g = c / size;
    if (valid) {
      part.bounds.groups[row * part.bounds.count + g] =
          store_lower(lower_bound(group.first), part.moves.group_drift[g]);
    }
    all.merge(group);
    group = NearestTwo{};
  }
}

template <class T>
__device__ void write_sample(const Part<T>& part, std::int64_t row, const NearestTwo& nearest) {
  part.bounds.upper[row] = store_upper(upper_bound(nearest.first), part.moves.drift[nearest.label]);
  part.bounds.lower[row] = store_lower(lower_bound(nearest.second), *part.moves.drift_of_all);
  if (part.bounds.groups == nullptr || part.bounds.group_size == 1) return;
  // So far the bound of its group included the assigned centroid.
  const std::int64_t g = nearest.label / part.bounds.group_size;
  part.bounds.groups[row * part.bounds.count + g] =
      store_lower(lower_bound(nearest.in_group), part.moves.group_drift[g]);
}

template <class T, bool kBounds>
__global__ void __launch_bounds__(kMaxWarpThreads) assign_all_kernel(Part<T> part) {
  extern __shared__ TileMemory memories[];
  const lloyd_cuda::Pass& pass = part.pass;
  if (block_halted(pass.halt)) return;
  const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  if (kBounds && part.work->ready != 0 && part.work->all == 0) {
    if (first_thread && pass.changed != nullptr) {
      atomicAdd(pass.changed, static_cast<unsigned long long>(part.work->changed));
    }
    return;
  }
  const int lane = threadIdx.x % kWarp;
  TileMemory& memory = memories[threadIdx.x / kWarp];
  const std::int64_t d = part.samples.features;
  const bool grouped = kBounds && part.bounds.groups != nullptr && part.bounds.group_size > 1;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / kWarp);
  const std::int64_t warp =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (first_thread) {
    part.work->filled = kBounds ? 1 : 0;
    atomicAdd(&part.work->distances,
              static_cast<unsigned long long>(pass.rows.size() * pass.clusters));
  }
  for (std::int64_t first = pass.rows.begin + warp * kTileRows; first < pass.rows.end;
       first += warps * kTileRows) {
    const std::int64_t left = pass.rows.end - first;
    const int row_count = static_cast<int>(left < kTileRows ? left : kTileRows);
    const std::int64_t row = first + lane;
    const bool valid = lane < row_count;
    NearestTwo nearest;
    nearest.label = 0;  // if every distance overflows
    NearestTwo group;
    for (std::int64_t column = 0; column < pass.clusters; column += kTileColumns) {
      const std::int64_t columns_left = pass.clusters - column;
      const int column_count =
          static_cast<int>(columns_left < kTileColumns ? columns_left : kTileColumns);
      tile_distances(part.samples.row(first), part.samples.row_stride, row_count,
                     pass.centroids + column * d, column_count, d, memory);
      if (grouped) {
        add_groups(part, row, valid, column, column_count, memory, group, nearest);
        continue;
      }
      for (int q = 0; q < column_count; ++q) {
        const double squared = memory.result(lane, q);
        if (squared < nearest.first) {
          if constexpr (kBounds) nearest.second = nearest.first;
          nearest.first = squared;
          nearest.label = static_cast<int>(column) + q;
        } else if constexpr (kBounds) {
          nearest.second = fmin(nearest.second, squared);
        }
      }
      if (kBounds && part.bounds.groups != nullptr) {
        write_bounds(part, first, row_count, column, column_count, memory);
      }
    }
    std::int32_t former = nearest.label;
    if (valid) {
      former = pass.labels[row];
      pass.labels[row] = nearest.label;
      if constexpr (kBounds) write_sample(part, row, nearest);
    }
    const bool changed = former != nearest.label;
    if (part.lists.changed != nullptr) {
      const unsigned place = append(changed, &part.work->changed);
      if (changed) {
        part.lists.changed[place] = static_cast<std::uint32_t>(row - pass.rows.begin);
        part.lists.former_label[place] = former;
      }
    }
    if (pass.changed != nullptr) add_count(changed, pass.changed);
  }
}

}  // namespace

template <class T>
void enqueue_assign_all(const Part<T>& part, bool with_bounds, const Grid& grid) {
  const auto kernel = with_bounds ? assign_all_kernel<T, true> : assign_all_kernel<T, false>;
  const int threads = grid.threads(sizeof(TileMemory));
  const std::int64_t tiles = (part.pass.rows.size() + kTileRows - 1) / kTileRows;
  const std::int64_t warps = threads / kWarp;
  const std::size_t shared = static_cast<std::size_t>(warps) * sizeof(TileMemory);
  lloyd_cuda::allow_shared_memory(kernel, static_cast<std::int64_t>(shared), grid.shared_bytes);
  kernel<<<grid.blocks((tiles + warps - 1) / warps, threads), threads, shared, part.pass.stream>>>(
      part);
  lloyd_cuda::check_launch("assign_all_kernel");
}

template void enqueue_assign_all(const Part<float>&, bool, const Grid&);
template void enqueue_assign_all(const Part<double>&, bool, const Grid&);

}  // namespace lloyd_cuda_elkan
