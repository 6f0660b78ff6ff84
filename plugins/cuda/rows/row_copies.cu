#include "cuda/rows/row_copies.hpp"

#include <algorithm>

#include "cuda/device/check.hpp"

namespace lloyd_cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kBlocks = 4096;

__device__ std::int64_t first_value() {
  return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}
__device__ std::int64_t value_step() {
  return static_cast<std::int64_t>(gridDim.x) * kThreads;
}

template <class From, class To>
__global__ void gather_kernel(const From* from, std::int64_t stride, std::int64_t features,
                              const std::int64_t* row_numbers, std::int64_t count, To* to) {
  for (std::int64_t at = first_value(); at < count * features; at += value_step()) {
    const std::int64_t row = at / features;
    to[at] = static_cast<To>(from[row_numbers[row] * stride + at - row * features]);
  }
}

template <class T>
__global__ void packing_kernel(const T* from, std::int64_t stride, std::int64_t rows,
                               std::int64_t features, T* to) {
  for (std::int64_t at = first_value(); at < rows * features; at += value_step()) {
    const std::int64_t row = at / features;
    to[at] = from[row * stride + at - row * features];
  }
}

unsigned copy_blocks(std::int64_t values) {
  return static_cast<unsigned>(std::min((values + kThreads - 1) / kThreads, kBlocks));
}

}  // namespace

template <class From, class To>
void enqueue_gather(const From* from, std::int64_t stride, std::int64_t features,
                    const std::int64_t* row_numbers, std::int64_t count, To* to,
                    cudaStream_t stream) {
  if (count == 0) return;
  gather_kernel<<<copy_blocks(count * features), kThreads, 0, stream>>>(from, stride, features,
                                                                        row_numbers, count, to);
  check_launch("gather_kernel");
}

template <class T>
void enqueue_packing(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t features,
                     T* to, cudaStream_t stream) {
  if (rows == 0) return;
  packing_kernel<<<copy_blocks(rows * features), kThreads, 0, stream>>>(from, stride, rows,
                                                                        features, to);
  check_launch("packing_kernel");
}

template void enqueue_gather(const float*, std::int64_t, std::int64_t, const std::int64_t*,
                             std::int64_t, float*, cudaStream_t);
template void enqueue_gather(const float*, std::int64_t, std::int64_t, const std::int64_t*,
                             std::int64_t, double*, cudaStream_t);
template void enqueue_gather(const double*, std::int64_t, std::int64_t, const std::int64_t*,
                             std::int64_t, double*, cudaStream_t);
template void enqueue_packing(const float*, std::int64_t, std::int64_t, std::int64_t, float*,
                              cudaStream_t);
template void enqueue_packing(const double*, std::int64_t, std::int64_t, std::int64_t, double*,
                              cudaStream_t);

}  // namespace lloyd_cuda
