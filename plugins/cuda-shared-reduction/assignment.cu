// Assignment: one thread per sample; the centroids are in constant memory if they fit.
#include <algorithm>
#include <limits>

#include "cuda/device/check.hpp"
#include "cuda/device/constant_memory_lock.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/passes/distance.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_shared_reduction {
namespace {

using lloyd_cuda::CentroidSpace;
using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

// Centroids per thread at a time, so that a value of the sample that is read serves all of them.
constexpr int kGroup = 4;
// Maximum shared memory, so that several blocks fit on a multiprocessor.
constexpr std::int64_t kSharedBytes = 96 * 1024;

__constant__ double constant_memory[lloyd_cuda::kConstantBytes / 8];

template <class T, class Real, CentroidSpace Space>
__global__ void assign_kernel(Pass pass, Samples<T> samples, const Real* centroids) {
  extern __shared__ double shared_memory[];
  if (*pass.halt != 0) return;
  const std::int64_t d = samples.features;
  if constexpr (Space == CentroidSpace::shared) {
    Real* copy = reinterpret_cast<Real*>(shared_memory);
    for (std::int64_t i = threadIdx.x; i < pass.clusters * d; i += blockDim.x) {
      copy[i] = centroids[i];
    }
    centroids = copy;
    __syncthreads();
  }
  const auto centroid = [&](std::int64_t at) -> Real {
    if constexpr (Space == CentroidSpace::constant) {
      return reinterpret_cast<const Real*>(constant_memory)[at];
    } else {
      return centroids[at];
    }
  };
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  unsigned int changed = 0;
  for (std::int64_t i =
           pass.rows.begin + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < pass.rows.end; i += step) {
    const T* x = samples.row(i);
    Real least = std::numeric_limits<Real>::infinity();
    std::int32_t nearest = 0;
    for (std::int64_t first = 0; first < pass.clusters; first += kGroup) {
      // Beyond the last centroid, the last one is computed again, which changes nothing.
      const std::int64_t last = pass.clusters - 1;
      Real distance[kGroup] = {};
      for (std::int64_t j = 0; j < d; ++j) {
        const Real value = static_cast<Real>(x[j * samples.feature_stride]);
#pragma unroll
        for (int g = 0; g < kGroup; ++g) {
          const std::int64_t c = first + g < last ? first + g : last;
          distance[g] =
              lloyd_cuda::add_square(distance[g], lloyd_cuda::subtract(value, centroid(c * d + j)));
        }
      }
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        if (distance[g] < least) {
          least = distance[g];
          nearest = static_cast<std::int32_t>(first + g);
        }
      }
    }
    changed += pass.labels[i] != nearest ? 1 : 0;
    pass.labels[i] = nearest;
  }
  if (pass.changed != nullptr && changed != 0) {
    atomicAdd(pass.changed, static_cast<unsigned long long>(changed));
  }
}

template <class T, class Real, CentroidSpace Space>
void launch(const Pass& pass, const Samples<T>& samples, const Real* centroids, std::int64_t bytes,
            const lloyd_cuda::DeviceLimits& limits, int block_size) {
  const auto kernel = assign_kernel<T, Real, Space>;
  const auto shared =
      Space == CentroidSpace::shared ? static_cast<std::size_t>(bytes) : std::size_t{0};
  lloyd_cuda::allow_shared_memory(kernel, static_cast<std::int64_t>(shared),
                                  limits.shared_bytes_per_block);
  int resident = 0;
  lloyd_cuda::check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, block_size, shared),
      "laying out a kernel");
  const std::int64_t wanted = (pass.rows.size() + block_size - 1) / block_size;
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>(wanted, limits.multiprocessors * std::max(resident, 1) * 4));
  kernel<<<blocks, block_size, shared, pass.stream>>>(pass, samples, centroids);
  lloyd_cuda::check_launch("assign_kernel");
}

template <class T, class Real>
void launch_in_space(const Pass& pass, const Samples<T>& samples, const Real* centroids,
                     CentroidSpace space, const lloyd_cuda::DeviceLimits& limits, int block_size) {
  const std::int64_t bytes =
      pass.clusters * samples.features * static_cast<std::int64_t>(sizeof(Real));
  switch (space) {
    case CentroidSpace::constant: {
      const lloyd_cuda::ConstantMemoryLock lock(pass.stream);
      lloyd_cuda::check(
          cudaMemcpyToSymbolAsync(constant_memory, centroids, static_cast<std::size_t>(bytes), 0,
                                  cudaMemcpyDeviceToDevice, pass.stream),
          "copying centroids to constant memory");
      launch<T, Real, CentroidSpace::constant>(pass, samples, centroids, bytes, limits, block_size);
      break;
    }
    case CentroidSpace::shared:
      launch<T, Real, CentroidSpace::shared>(pass, samples, centroids, bytes, limits, block_size);
      break;
    case CentroidSpace::global:
      launch<T, Real, CentroidSpace::global>(pass, samples, centroids, bytes, limits, block_size);
      break;
  }
}

}  // namespace

CentroidSpace choose_space(std::int64_t clusters, std::int64_t features, std::int64_t value_bytes,
                           const lloyd_cuda::DeviceLimits& limits) {
  const std::int64_t bytes = clusters * features * value_bytes;
  if (bytes <= lloyd_cuda::kConstantBytes) return CentroidSpace::constant;
  if (bytes <= std::min<std::int64_t>(kSharedBytes, limits.shared_bytes_per_block)) {
    return CentroidSpace::shared;
  }
  return CentroidSpace::global;
}

template <class T>
void enqueue_assignment(const Pass& pass, const Samples<T>& samples, CentroidSpace space,
                        const lloyd_cuda::DeviceLimits& limits, int block_size) {
  if (pass.rows.size() == 0) return;
  if (sizeof(T) == sizeof(double) || pass.in_float64) {
    launch_in_space<T, double>(pass, samples, pass.centroids, space, limits, block_size);
  } else if constexpr (sizeof(T) == sizeof(float)) {
    launch_in_space<T, float>(pass, samples, pass.rounded, space, limits, block_size);
  }
}

template void enqueue_assignment(const Pass&, const Samples<float>&, CentroidSpace,
                                 const lloyd_cuda::DeviceLimits&, int);
template void enqueue_assignment(const Pass&, const Samples<double>&, CentroidSpace,
                                 const lloyd_cuda::DeviceLimits&, int);

}  // namespace lloyd_cuda_shared_reduction
