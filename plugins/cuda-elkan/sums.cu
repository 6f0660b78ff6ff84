// Cluster sums as integers, independent of the order. All samples: first in shared memory, then
// into the totals. Changed samples: from one total to another.
#include "block.cuh"
#include "cuda/device/check.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/passes/integer_sums.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_elkan {
namespace {

using lloyd_cuda::DeviceInt128;
using lloyd_cuda::Totals;

// Maximum number of feature tiles, each of which reads the labels again. Beyond it, values are
// added to the totals directly: then there are so many cells that threads rarely collide.
constexpr std::int64_t kMaxTiles = 8;
// Shared memory per block, so that two blocks fit on a multiprocessor.
constexpr std::int64_t kSharedBytes = 96 << 10;
constexpr int kThreads = 512;

// Mapping of a block's threads to rows and features; neighbouring threads get neighbouring
// features.
struct Lanes {
  std::int64_t width;  // threads per row
  std::int64_t rows;   // rows at a time
  std::int64_t row;    // row of this thread; too large if it has none
  std::int64_t feature;

  __device__ explicit Lanes(std::int64_t features)
      : width(features < blockDim.x ? features : blockDim.x),
        rows(blockDim.x / width),
        row(threadIdx.x / width),
        feature(threadIdx.x % width) {}
};

// Narrow values are summed in 64 bits, others in 128.
__device__ void add_shared(unsigned long long* sum, long long value) {
  atomicAdd(sum, static_cast<unsigned long long>(value));
}
__device__ void add_shared(lloyd::SumWords* sum, DeviceInt128 value) {
  lloyd_cuda::atomic_add(sum, value);
}
__device__ DeviceInt128 taken(unsigned long long& sum) {
  const DeviceInt128 value = lloyd_cuda::sign_extend(static_cast<long long>(sum));
  sum = 0;
  return value;
}
__device__ DeviceInt128 taken(lloyd::SumWords& sum) {
  const DeviceInt128 value{sum.low, sum.high};
  sum = {0, 0};
  return value;
}

// Each block sums its share of the rows, for `tile_features` features of all clusters.
template <class T, class Cell>
__global__ void __launch_bounds__(kThreads)
    shared_sums_kernel(Part<T> part, Totals totals, std::int64_t tile_features,
                       std::int64_t rows_per_block) {
  extern __shared__ unsigned long long shared[];
  const lloyd_cuda::Pass& pass = part.pass;
  if (block_halted(pass.halt)) return;
  const std::int64_t d = part.samples.features;
  const std::int64_t first_feature = static_cast<std::int64_t>(blockIdx.y) * tile_features;
  const std::int64_t features =
      d - first_feature < tile_features ? d - first_feature : tile_features;
  const std::int64_t cells = pass.clusters * features;
  const bool counts = blockIdx.y == 0;
  Cell* sums = reinterpret_cast<Cell*>(shared);
  unsigned* rows_of = reinterpret_cast<unsigned*>(sums + pass.clusters * tile_features);
  for (std::int64_t at = threadIdx.x; at < cells; at += blockDim.x) taken(sums[at]);
  for (std::int64_t c = threadIdx.x; c < pass.clusters; c += blockDim.x) rows_of[c] = 0;
  __syncthreads();

  const Lanes lanes(features);
  const std::int64_t begin = pass.rows.begin + blockIdx.x * rows_per_block;
  const std::int64_t end =
      begin + rows_per_block < pass.rows.end ? begin + rows_per_block : pass.rows.end;
  if (lanes.row < lanes.rows) {
    for (std::int64_t i = begin + lanes.row; i < end; i += lanes.rows) {
      const std::int64_t label = pass.labels[i];
      const T* x = part.samples.row(i) + first_feature;
      for (std::int64_t j = lanes.feature; j < features; j += lanes.width) {
        if constexpr (sizeof(Cell) == sizeof(unsigned long long)) {
          add_shared(sums + label * features + j,
                     lloyd_cuda::narrow_value(x[j], pass.scale.scales[first_feature + j]));
        } else {
          add_shared(sums + label * features + j,
                     lloyd_cuda::exact_value(x[j], pass.scale, first_feature + j));
        }
      }
      if (counts && lanes.feature == 0) atomicAdd(rows_of + label, 1u);
    }
  }
  __syncthreads();

  for (std::int64_t at = threadIdx.x; at < cells; at += blockDim.x) {
    const DeviceInt128 sum = taken(sums[at]);
    if (sum.low == 0 && sum.high == 0) continue;
    const std::int64_t cluster = at / features;
    lloyd_cuda::atomic_add(totals.sums + cluster * d + first_feature + (at - cluster * features),
                           sum);
  }
  if (!counts) return;
  for (std::int64_t c = threadIdx.x; c < pass.clusters; c += blockDim.x) {
    if (rows_of[c] != 0) atomicAdd(totals.counts + c, static_cast<unsigned long long>(rows_of[c]));
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) direct_sums_kernel(Part<T> part, Totals totals) {
  const lloyd_cuda::Pass& pass = part.pass;
  if (block_halted(pass.halt)) return;
  const std::int64_t d = part.samples.features;
  const Lanes lanes(d);
  if (lanes.row >= lanes.rows) return;
  const std::int64_t step = gridDim.x * lanes.rows;
  for (std::int64_t i = pass.rows.begin + blockIdx.x * lanes.rows + lanes.row; i < pass.rows.end;
       i += step) {
    const std::int64_t label = pass.labels[i];
    const T* x = part.samples.row(i);
    for (std::int64_t j = lanes.feature; j < d; j += lanes.width) {
      lloyd_cuda::atomic_add(totals.sums + label * d + j,
                             lloyd_cuda::exact_value(x[j], pass.scale, j));
    }
    if (lanes.feature == 0) atomicAdd(totals.counts + label, 1ull);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) changed_sums_kernel(Part<T> part, Totals totals) {
  const lloyd_cuda::Pass& pass = part.pass;
  if (block_halted(pass.halt)) return;
  const std::int64_t d = part.samples.features;
  const std::int64_t changed = part.work->changed;
  const Lanes lanes(d);
  if (lanes.row >= lanes.rows) return;
  const std::int64_t step = gridDim.x * lanes.rows;
  for (std::int64_t at = blockIdx.x * lanes.rows + lanes.row; at < changed; at += step) {
    const std::int64_t i = pass.rows.begin + part.lists.changed[at];
    const std::int64_t from = part.lists.former_label[at];
    const std::int64_t to = pass.labels[i];
    const T* x = part.samples.row(i);
    for (std::int64_t j = lanes.feature; j < d; j += lanes.width) {
      const DeviceInt128 value = lloyd_cuda::exact_value(x[j], pass.scale, j);
      lloyd_cuda::atomic_add(totals.sums + from * d + j, -value);
      lloyd_cuda::atomic_add(totals.sums + to * d + j, value);
    }
    if (lanes.feature == 0) {
      atomicAdd(totals.counts + from, ~0ull);  // -1
      atomicAdd(totals.counts + to, 1ull);
    }
  }
}

__global__ void publish_kernel(lloyd_cuda::Pass pass, std::int64_t d, Totals totals) {
  if (block_halted(pass.halt)) return;
  const std::int64_t cells = pass.clusters * d;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       at < cells; at += step) {
    const lloyd::SumWords from = totals.sums[at];
    lloyd::SumWords& to = pass.totals.sums[at];
    const DeviceInt128 sum = DeviceInt128{to.low, to.high} + DeviceInt128{from.low, from.high};
    to = {sum.low, sum.high};
    if (at < pass.clusters) pass.totals.counts[at] += totals.counts[at];
  }
}

template <class T, class Cell>
bool enqueue_shared_sums(const Part<T>& part, const Totals& totals, const Grid& grid) {
  const lloyd_cuda::Pass& pass = part.pass;
  const std::int64_t d = part.samples.features;
  const std::int64_t available = std::min<std::int64_t>(kSharedBytes, grid.shared_bytes) -
                                 pass.clusters * static_cast<std::int64_t>(sizeof(unsigned));
  const std::int64_t tile_features =
      std::min(d, available / (pass.clusters * static_cast<std::int64_t>(sizeof(Cell))));
  if (tile_features < 1 || (d + tile_features - 1) / tile_features > kMaxTiles) return false;
  const auto tiles = static_cast<unsigned>((d + tile_features - 1) / tile_features);
  const std::int64_t rows = pass.rows.size();
  const std::int64_t wanted_blocks = std::int64_t{grid.multiprocessors} * 2;
  std::int64_t rows_per_block =
      std::max<std::int64_t>((rows + wanted_blocks - 1) / wanted_blocks, kThreads);
  if (sizeof(Cell) == sizeof(unsigned long long)) {
    rows_per_block = std::min(rows_per_block, pass.scale.flush_rows);
  }
  const dim3 blocks(static_cast<unsigned>((rows + rows_per_block - 1) / rows_per_block), tiles);
  const auto shared = static_cast<std::size_t>(
      pass.clusters * (tile_features * static_cast<std::int64_t>(sizeof(Cell)) +
                       static_cast<std::int64_t>(sizeof(unsigned))));
  lloyd_cuda::allow_shared_memory(shared_sums_kernel<T, Cell>, static_cast<std::int64_t>(shared),
                                  grid.shared_bytes);
  shared_sums_kernel<T, Cell>
      <<<blocks, kThreads, shared, pass.stream>>>(part, totals, tile_features, rows_per_block);
  lloyd_cuda::check_launch("shared_sums_kernel");
  return true;
}

}  // namespace

template <class T>
void enqueue_sums(const Part<T>& part, const Totals& totals, const Grid& grid) {
  if (part.pass.rows.size() == 0) return;
  const bool added = part.pass.scale.narrow
                         ? enqueue_shared_sums<T, unsigned long long>(part, totals, grid)
                         : enqueue_shared_sums<T, lloyd::SumWords>(part, totals, grid);
  if (added) return;
  const std::int64_t values = part.pass.rows.size() * part.samples.features;
  direct_sums_kernel<T><<<grid.blocks((values + kThreads - 1) / kThreads, kThreads), kThreads, 0,
                          part.pass.stream>>>(part, totals);
  lloyd_cuda::check_launch("direct_sums_kernel");
}

template <class T>
void enqueue_changed_sums(const Part<T>& part, const Totals& totals, const Grid& grid) {
  const std::int64_t values = part.pass.rows.size() * part.samples.features;
  changed_sums_kernel<T><<<grid.blocks((values + kThreads - 1) / kThreads, kThreads), kThreads, 0,
                           part.pass.stream>>>(part, totals);
  lloyd_cuda::check_launch("changed_sums_kernel");
}

void enqueue_publication(const lloyd_cuda::Pass& pass, std::int64_t features,
                         const Totals& totals) {
  constexpr std::int64_t kMaxBlocks = 1024;
  const std::int64_t cells = pass.clusters * features;
  const auto blocks = static_cast<int>(std::min((cells + kThreads - 1) / kThreads, kMaxBlocks));
  publish_kernel<<<blocks, kThreads, 0, pass.stream>>>(pass, features, totals);
  lloyd_cuda::check_launch("publish_kernel");
}

template void enqueue_sums(const Part<float>&, const Totals&, const Grid&);
template void enqueue_sums(const Part<double>&, const Totals&, const Grid&);
template void enqueue_changed_sums(const Part<float>&, const Totals&, const Grid&);
template void enqueue_changed_sums(const Part<double>&, const Totals&, const Grid&);

}  // namespace lloyd_cuda_elkan
