// One thread per sample; the threads of a block read the centroids portion by portion from shared
// memory.
#include "cuda-hybrid/label_kernel.hpp"

#include <algorithm>

#include "cuda-hybrid/nearest_search.hpp"
#include "cuda/device/check.hpp"
#include "cuda/passes/distance.cuh"

namespace lloyd_cuda_hybrid {
namespace {

// Shared memory of a portion grows with the block (64 bytes per thread), so that small blocks fill
// a multiprocessor, too. 32 KiB, which every device has, are enough to hide the latency of loading.
constexpr int kPortionBytesPerThread = 64;
constexpr int kMaxPortionBytes = 32768;

struct DeviceDistance {
  template <class Real>
  __device__ static Real add(Real sum, Real x, Real c) {
    return lloyd_cuda::add_square(sum, lloyd_cuda::subtract(x, c));
  }
};

// Threads beyond the last sample take part, since the barriers need all threads of the block.
template <class T, class Real>
__global__ void __launch_bounds__(1024)
    label_kernel(LabelTask<T, Real> task, std::int64_t groups, int portion_size) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto* portion = reinterpret_cast<GroupFeature<Real>*>(shared_bytes);
  const std::int64_t i =
      task.rows.begin + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool is_sample = i < task.rows.end;
  const T* x = task.samples.row(is_sample ? i : task.rows.end - 1);
  NearestSearch<Real, DeviceDistance> search;
  for (std::int64_t begin = 0; begin < groups; begin += portion_size) {
    const int count =
        groups - begin < portion_size ? static_cast<int>(groups - begin) : portion_size;
    const bool halted =
        threadIdx.x == 0 && *static_cast<const volatile std::int32_t*>(task.halt) != 0;
    __syncthreads();  // the former portion has been read
    for (int at = static_cast<int>(threadIdx.x); at < count; at += static_cast<int>(blockDim.x)) {
      portion[at] = task.groups[begin + at];
    }
    if (__syncthreads_or(halted)) return;
    search.take(portion, count, x, task.samples.feature_stride, task.samples.features);
  }
  if (is_sample) task.labels[i - task.rows.begin] = search.nearest();
}

}  // namespace

template <class T, class Real>
void enqueue_labelling(const LabelTask<T, Real>& task, int block_size, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((task.rows.size() + block_size - 1) / block_size);
  const std::int64_t groups = group_features(task.clusters, task.samples.features);
  constexpr int kBytes = static_cast<int>(sizeof(GroupFeature<Real>));
  const int fitting = std::min(kPortionBytesPerThread * block_size, kMaxPortionBytes) / kBytes;
  const auto portion = static_cast<int>(std::min<std::int64_t>(fitting, groups));
  label_kernel<T, Real><<<blocks, block_size, static_cast<std::size_t>(portion) * kBytes, stream>>>(
      task, groups, portion);
  lloyd_cuda::check_launch("label_kernel");
}

template void enqueue_labelling(const LabelTask<float, float>&, int, cudaStream_t);
template void enqueue_labelling(const LabelTask<float, double>&, int, cudaStream_t);
template void enqueue_labelling(const LabelTask<double, double>&, int, cudaStream_t);

}  // namespace lloyd_cuda_hybrid
