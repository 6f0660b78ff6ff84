// Three variants of the update without cooperation between threads.
#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/passes/integer_sums.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_naive {
namespace {

using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

// Rows between two checks of the cancellation flag.
constexpr std::int64_t kRowsBetweenLooks = 1 << 16;
// Cells of block-local sums: 24 KiB, several times less than every device has.
constexpr int kBlockCells = 1536;
constexpr unsigned kBlocks = 4096;

template <class T>
__global__ void atomic_kernel(Pass pass, Samples<T> samples) {
  if (*pass.halt != 0) return;
  const std::int64_t i =
      pass.rows.begin + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= pass.rows.end) return;
  const T* x = samples.row(i);
  const std::int64_t label = pass.labels[i];
  for (std::int64_t j = 0; j < samples.features; ++j) {
    lloyd_cuda::atomic_add(pass.totals.sums + label * samples.features + j,
                           lloyd_cuda::exact_value(x[j], pass.scale, j));
  }
  atomicAdd(pass.totals.counts + label, 1ull);
}

// The first thread of a block sums the block's samples locally, as many cells at a time as fit.
template <class T>
__global__ void block_kernel(Pass pass, Samples<T> samples) {
  __shared__ lloyd_cuda::DeviceInt128 sums[kBlockCells];
  if (threadIdx.x != 0) return;
  const std::int64_t d = samples.features;
  const std::int64_t cells = pass.clusters * d;
  for (std::int64_t tile = blockIdx.x; tile * blockDim.x < pass.rows.size(); tile += gridDim.x) {
    if (*pass.halt != 0) return;
    const std::int64_t begin = pass.rows.begin + tile * blockDim.x;
    const std::int64_t end =
        begin + blockDim.x < pass.rows.end ? begin + blockDim.x : pass.rows.end;
    for (std::int64_t first = 0; first < cells; first += kBlockCells) {
      const std::int64_t last = first + kBlockCells < cells ? first + kBlockCells : cells;
      for (std::int64_t at = first; at < last; ++at) sums[at - first] = {0, 0};
      for (std::int64_t i = begin; i < end; ++i) {
        const T* x = samples.row(i);
        const std::int64_t row_cell = pass.labels[i] * d;
        const std::int64_t from = first > row_cell ? first - row_cell : 0;
        const std::int64_t to = last - row_cell < d ? last - row_cell : d;
        for (std::int64_t j = from; j < to; ++j) {
          lloyd_cuda::DeviceInt128& sum = sums[row_cell + j - first];
          sum = sum + lloyd_cuda::exact_value(x[j], pass.scale, j);
        }
      }
      for (std::int64_t at = first; at < last; ++at) {
        if (sums[at - first].low != 0 || sums[at - first].high != 0) {
          lloyd_cuda::atomic_add(pass.totals.sums + at, sums[at - first]);
        }
      }
    }
    for (std::int64_t i = begin; i < end; ++i) {
      atomicAdd(pass.totals.counts + pass.labels[i], 1ull);
    }
  }
}

// One thread per cluster and feature reads all labels.
template <class T>
__global__ void serial_kernel(Pass pass, Samples<T> samples) {
  const std::int64_t d = samples.features;
  const std::int64_t cells = pass.clusters * d;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       at < cells; at += step) {
    const std::int64_t cluster = at / d;
    const std::int64_t feature = at - cluster * d;
    lloyd_cuda::DeviceInt128 sum{0, 0};
    unsigned long long count = 0;
    for (std::int64_t i = pass.rows.begin; i < pass.rows.end; ++i) {
      if ((i - pass.rows.begin) % kRowsBetweenLooks == 0 && *pass.halt != 0) return;
      if (pass.labels[i] != cluster) continue;
      sum = sum + lloyd_cuda::exact_value(samples.row(i)[feature], pass.scale, feature);
      ++count;
    }
    lloyd_cuda::atomic_add(pass.totals.sums + at, sum);
    if (feature == 0) pass.totals.counts[cluster] += count;
  }
}

unsigned blocks_for(std::int64_t threads, int block_size) {
  return static_cast<unsigned>((threads + block_size - 1) / block_size);
}

}  // namespace

template <class T>
void enqueue_update(const Pass& pass, const Samples<T>& samples, Update update, int block_size) {
  const unsigned row_blocks = blocks_for(pass.rows.size(), block_size);
  if (row_blocks == 0) return;
  if (update == Update::atomic) {
    atomic_kernel<T><<<row_blocks, block_size, 0, pass.stream>>>(pass, samples);
  } else if (update == Update::block) {
    block_kernel<T><<<std::min(row_blocks, kBlocks), block_size, 0, pass.stream>>>(pass, samples);
  } else {
    const unsigned blocks = blocks_for(pass.clusters * samples.features, block_size);
    serial_kernel<T><<<std::min(blocks, kBlocks), block_size, 0, pass.stream>>>(pass, samples);
  }
  lloyd_cuda::check_launch("the update");
}

template void enqueue_update(const Pass&, const Samples<float>&, Update, int);
template void enqueue_update(const Pass&, const Samples<double>&, Update, int);

}  // namespace lloyd_cuda_naive
