// Assignment: one thread per sample reads the centroids from global memory.
#include <limits>

#include "cuda/device/check.hpp"
#include "cuda/passes/distance.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_naive {
namespace {

using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

// Distances are computed in Real.
template <class T, class Real>
__global__ void assign_kernel(Pass pass, Samples<T> samples, const Real* centroids) {
  if (*pass.halt != 0) return;
  const std::int64_t i =
      pass.rows.begin + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  bool changed = false;
  if (i < pass.rows.end) {
    const T* x = samples.row(i);
    Real least = std::numeric_limits<Real>::infinity();
    std::int32_t nearest = 0;
    for (std::int64_t c = 0; c < pass.clusters; ++c) {
      const Real* centroid = centroids + c * samples.features;
      Real distance = 0;
      for (std::int64_t j = 0; j < samples.features; ++j) {
        distance = lloyd_cuda::add_square(
            distance, lloyd_cuda::subtract(static_cast<Real>(x[j]), centroid[j]));
      }
      if (distance < least) {
        least = distance;
        nearest = static_cast<std::int32_t>(c);
      }
    }
    changed = pass.labels[i] != nearest;
    pass.labels[i] = nearest;
  }
  const int count = __syncthreads_count(changed);
  if (threadIdx.x == 0 && count > 0 && pass.changed != nullptr) {
    atomicAdd(pass.changed, static_cast<unsigned long long>(count));
  }
}

}  // namespace

template <class T>
void enqueue_assignment(const Pass& pass, const Samples<T>& samples, int block_size) {
  const auto blocks = static_cast<unsigned>((pass.rows.size() + block_size - 1) / block_size);
  if (blocks == 0) return;
  if (sizeof(T) == sizeof(double) || pass.in_float64) {
    assign_kernel<T, double><<<blocks, block_size, 0, pass.stream>>>(pass, samples, pass.centroids);
  } else {
    assign_kernel<T, float><<<blocks, block_size, 0, pass.stream>>>(pass, samples, pass.rounded);
  }
  lloyd_cuda::check_launch("assign_kernel");
}

template void enqueue_assignment(const Pass&, const Samples<float>&, int);
template void enqueue_assignment(const Pass&, const Samples<double>&, int);

}  // namespace lloyd_cuda_naive
