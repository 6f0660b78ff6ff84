// Update: blocks for each cluster and feature. Each thread sums some samples of the cluster, then
// the block reduces its sums as a tree in shared memory.
#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/passes/integer_sums.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_shared_reduction {
namespace {

using lloyd_cuda::DeviceInt128;
using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

// Threads per multiprocessor that keep it busy.
constexpr std::int64_t kThreadsPerMultiprocessor = 2048;
// Labels that a thread reads at a time. Few of them are of its cluster, so reading dominates.
constexpr int kLabels = 8;
constexpr unsigned kMaxBlocks = 65535;

// Partial sum of a thread, then of a block, for its cluster and feature.
struct Part {
  DeviceInt128 sum;
  unsigned long long count;
};

// Sums the values of a thread: narrow values in 64 bits until these are full.
template <class T, bool Narrow>
class ThreadSum {
 public:
  __device__ ThreadSum(const lloyd_cuda::SumScale& scale, std::int64_t feature)
      : flush_rows_(scale.flush_rows),
        scale_(scale.scales[feature]),
        exponent_(scale.exponents[feature]) {}

  // Values of other clusters are 0 and not counted.
  __device__ void add(const T (&values)[kLabels], int count) {
    count_ += static_cast<unsigned long long>(count);
    if constexpr (Narrow) {
      if (since_flush_ + kLabels > flush_rows_) flush();
      since_flush_ += kLabels;
#pragma unroll
      for (const T value : values) narrow_ += lloyd_cuda::narrow_value(value, scale_);
    } else {
      for (const T value : values) {
        if (value != 0) total_ = total_ + lloyd_cuda::wide_value(value, exponent_);
      }
    }
  }
  __device__ Part part() {
    flush();
    return {total_, count_};
  }

 private:
  __device__ void flush() {
    total_ = total_ + lloyd_cuda::sign_extend(narrow_);
    narrow_ = 0;
    since_flush_ = 0;
  }

  std::int64_t flush_rows_;
  double scale_;
  int exponent_;
  long long narrow_ = 0;
  std::int64_t since_flush_ = 0;
  DeviceInt128 total_{0, 0};
  unsigned long long count_ = 0;
};

// blockIdx.x is the cluster and feature, blockIdx.y the share of the rows.
template <class T, bool Narrow>
__global__ void update_kernel(Pass pass, Samples<T> samples) {
  extern __shared__ Part parts[];
  const std::int64_t d = samples.features;
  const std::int64_t cells = pass.clusters * d;
  for (std::int64_t at = blockIdx.x; at < cells; at += gridDim.x) {
    const std::int64_t cluster = at / d;
    const std::int64_t feature = at - cluster * d;
    const T* values = samples.data + feature * samples.feature_stride;
    ThreadSum<T, Narrow> own(pass.scale, feature);
    const std::int64_t block_rows = static_cast<std::int64_t>(blockDim.x) * kLabels;
    for (std::int64_t begin = pass.rows.begin + blockIdx.y * block_rows; begin < pass.rows.end;
         begin += gridDim.y * block_rows) {
      if (*pass.halt != 0) break;
      // Branch-free, so that all loads are in flight at once.
      T mine[kLabels];
      int count = 0;
#pragma unroll
      for (int l = 0; l < kLabels; ++l) {
        const std::int64_t i = begin + l * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
        const bool of_cluster = i < pass.rows.end && pass.labels[i] == cluster;
        mine[l] = of_cluster ? values[(i - samples.first_row) * samples.row_stride] : T{0};
        count += of_cluster ? 1 : 0;
      }
      own.add(mine, count);
    }
    parts[threadIdx.x] = own.part();
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
      lloyd_cuda::atomic_add(pass.totals.sums + at, parts[0].sum);
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
  // With few clusters and features, several blocks share the rows of each.
  const std::int64_t resident =
      limits.multiprocessors * std::max<std::int64_t>(kThreadsPerMultiprocessor / block_size, 1);
  const std::int64_t block_rows = static_cast<std::int64_t>(block_size) * kLabels;
  const std::int64_t row_blocks = (pass.rows.size() + block_rows - 1) / block_rows;
  const auto shares = static_cast<unsigned>(std::clamp<std::int64_t>(
      resident / cells, 1, std::min<std::int64_t>(row_blocks, kMaxBlocks)));
  const auto bytes = static_cast<std::size_t>(block_size) * sizeof(Part);
  const dim3 grid(cell_blocks, shares);
  if (pass.scale.narrow) {
    update_kernel<T, true><<<grid, block_size, bytes, pass.stream>>>(pass, samples);
  } else {
    update_kernel<T, false><<<grid, block_size, bytes, pass.stream>>>(pass, samples);
  }
  lloyd_cuda::check_launch("update_kernel");
}

template void enqueue_update(const Pass&, const Samples<float>&, const lloyd_cuda::DeviceLimits&,
                             int);
template void enqueue_update(const Pass&, const Samples<double>&, const lloyd_cuda::DeviceLimits&,
                             int);

}  // namespace lloyd_cuda_shared_reduction
