// Blocks for each cluster and feature: every thread sums some samples of the cluster, then the
// block's sums are added as a tree in shared memory.
#include <algorithm>

#include "cuda/check.hpp"
#include "cuda/integer_sums.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_shared_reduction {
namespace {

using lloyd_cuda::Pass;
using lloyd_cuda::Samples;
using lloyd_cuda::Words;

// Threads of a multiprocessor that keep it busy.
constexpr std::int64_t kThreadsPerMultiprocessor = 2048;
// Rows of a thread between two looks at the flag that cancels.
constexpr int kRowsBetweenLooks = 4096;
constexpr unsigned kMostBlocks = 65535;

// What a thread and then a block knows of its cluster and feature.
struct Part {
  Words sum;
  unsigned long long count;
};

// blockIdx.x: cluster and feature; blockIdx.y: which share of the rows.
template <class T>
__global__ void update_kernel(Pass pass, Samples<T> samples) {
  extern __shared__ Part parts[];
  const std::int64_t d = samples.features;
  const std::int64_t cells = pass.clusters * d;
  for (std::int64_t at = blockIdx.x; at < cells; at += gridDim.x) {
    const std::int64_t cluster = at / d;
    const std::int64_t feature = at - cluster * d;
    const T* values = samples.data + feature * samples.feature_step;
    Part own{{0, 0}, 0};
    const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * blockDim.x;
    int looked = 0;
    for (std::int64_t i =
             pass.rows.begin + static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
         i < pass.rows.end; i += step) {
      if (looked++ % kRowsBetweenLooks == 0 && *pass.halt != 0) break;
      if (pass.labels[i] != cluster) continue;
      const T value = values[(i - samples.first_row) * samples.row_step];
      own.sum = own.sum + lloyd_cuda::exact_value(value, pass.scale, feature);
      ++own.count;
    }
    parts[threadIdx.x] = own;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) {
        Part& mine = parts[threadIdx.x];
        const Part& other = parts[threadIdx.x + half];
        mine.sum = mine.sum + other.sum;
        mine.count += other.count;
      }
      __syncthreads();
    }
    if (threadIdx.x == 0 && parts[0].count != 0) {
      lloyd_cuda::add_to(pass.totals.sums + at, parts[0].sum);
      if (feature == 0) atomicAdd(pass.totals.counts + cluster, parts[0].count);
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void enqueue_update(const Pass& pass, const Samples<T>& samples,
                    const lloyd_cuda::DeviceLimits& limits, int block_size) {
  if (pass.rows.size() == 0) return;
  const std::int64_t cells = pass.clusters * samples.features;
  const auto cell_blocks =
      static_cast<unsigned>(std::min<std::int64_t>(cells, std::int64_t{1} << 30));
  // Where there are few clusters and features, several blocks share the rows of each.
  const std::int64_t resident =
      limits.multiprocessors * std::max<std::int64_t>(kThreadsPerMultiprocessor / block_size, 1);
  const std::int64_t row_blocks = (pass.rows.size() + block_size - 1) / block_size;
  const auto shares = static_cast<unsigned>(std::clamp<std::int64_t>(
      resident / cells, 1, std::min<std::int64_t>(row_blocks, kMostBlocks)));
  const auto bytes = static_cast<std::size_t>(block_size) * sizeof(Part);
  update_kernel<T><<<dim3(cell_blocks, shares), block_size, bytes, pass.stream>>>(pass, samples);
  lloyd_cuda::check_launch("update_kernel");
}

template void enqueue_update(const Pass&, const Samples<float>&, const lloyd_cuda::DeviceLimits&,
                             int);
template void enqueue_update(const Pass&, const Samples<double>&, const lloyd_cuda::DeviceLimits&,
                             int);

}  // namespace lloyd_cuda_shared_reduction
