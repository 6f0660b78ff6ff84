// The kernel that labels samples and, if fused, sums them in shared memory.
#include <algorithm>
#include <limits>

#include "block_sums.cuh"
#include "cuda/device/check.hpp"
#include "cuda/device/constant_memory_lock.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/passes/distance.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_fused {
namespace {

using lloyd_cuda::CentroidSpace;
using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

// Maximum of block_size. Without this bound some kernels use more registers than a block of that
// size has.
constexpr int kMaxThreads = 1024;
// Samples per thread, so that a centroid that is read serves several.
constexpr int kRows = 2;
// Centroids per thread at a time, for a number of features that is not in registers.
constexpr int kGroup = 8;

// True if the lanes of a warp add one row together instead of one row each.
template <int D>
constexpr bool kCooperate = D >= 8;

__constant__ __align__(16) double constant_memory[lloyd_cuda::kConstantBytes / 8];

template <CentroidSpace Space, class Real>
struct Centroids {
  const Real* values;
  __device__ const Real* at(std::int64_t index) const {
    if constexpr (Space == CentroidSpace::constant) {
      return reinterpret_cast<const Real*>(constant_memory) + index;
    } else {
      return values + index;
    }
  }
  __device__ Real operator[](std::int64_t index) const {
    return Space == CentroidSpace::global ? __ldg(at(index)) : *at(index);
  }
};

template <class Real>
struct Nearest {
  Real lowest = std::numeric_limits<Real>::infinity();
  std::int32_t label = 0;

  __device__ void update(Real distance, std::int64_t c) {
    if (distance < lowest) {
      lowest = distance;
      label = static_cast<std::int32_t>(c);
    }
  }
};

// The nearest centroids of kRows rows. D is the number of features if they are held in registers;
// 0: any number.
template <class T, class Real, int D, class C>
__device__ void find_nearest(const Samples<T>& samples, const std::int64_t (&rows)[kRows],
                             const C& centroids, std::int64_t clusters,
                             Nearest<Real> (&nearest)[kRows]) {
  if constexpr (D > 0) {
    Real x[kRows][D];
#pragma unroll
    for (int j = 0; j < D; ++j) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        x[r][j] = static_cast<Real>(samples.row(rows[r])[j * samples.feature_stride]);
      }
    }
    const int k = static_cast<int>(clusters);
    for (int c = 0; c < k; ++c) {
      Real distance[kRows] = {};
#pragma unroll
      for (int j = 0; j < D; ++j) {
        const Real value = centroids[c * D + j];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          distance[r] = lloyd_cuda::add_square(distance[r], lloyd_cuda::subtract(x[r][j], value));
        }
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) nearest[r].update(distance[r], c);
    }
  } else {
    const std::int64_t d = samples.features;
    for (std::int64_t first = 0; first < clusters; first += kGroup) {
      Real distance[kRows][kGroup] = {};
      // If fewer are left, the last one is computed repeatedly and considered once.
      const std::int64_t last = clusters - 1;
      for (std::int64_t j = 0; j < d; ++j) {
        Real x[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          x[r] = static_cast<Real>(samples.row(rows[r])[j * samples.feature_stride]);
        }
#pragma unroll
        for (int g = 0; g < kGroup; ++g) {
          const std::int64_t c = first + g < last ? first + g : last;
          const Real value = centroids[c * d + j];
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            distance[r][g] =
                lloyd_cuda::add_square(distance[r][g], lloyd_cuda::subtract(x[r], value));
          }
        }
      }
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        if (first + g > last) break;
#pragma unroll
        for (int r = 0; r < kRows; ++r) nearest[r].update(distance[r][g], first + g);
      }
    }
  }
}

// Adds the rows of a warp; each lane holds the label of one row (-1: none). Neighbouring lanes add
// neighbouring features of a row, so that they access different banks. Rows are contiguous.
template <int D, class T>
__device__ void add_rows(BlockSums& sums, const Pass& pass, const Samples<T>& samples,
                         std::int64_t first_row, std::int32_t label) {
  constexpr int kTogether = 32 / D;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int feature = lane % D;
#pragma unroll 4
  for (int r = 0; r < 32; r += kTogether) {
    const int row = r + lane / D;
    const std::int32_t its_label = __shfl_sync(0xffffffffu, label, row);
    if (its_label < 0) continue;
    const T x = samples.row(first_row + row)[feature];
    lloyd_cuda::add_to_limbs(sums.sum_of(its_label) + feature, sums.tile.limb_stride, x, pass.scale,
                             feature, D);
    if (feature == 0) sums.count(its_label);
  }
}

template <class T, class Real, int D, CentroidSpace Space>
__global__ void __launch_bounds__(kMaxThreads, 1)
    pass_kernel(Pass pass, Samples<T> samples, const Real* centroids, Configuration configuration) {
  extern __shared__ __align__(16) unsigned long long shared_memory[];
  if (*pass.halt != 0) return;
  const std::int64_t d = samples.features;
  if constexpr (Space == CentroidSpace::shared) {
    Real* copy = reinterpret_cast<Real*>(shared_memory);
    for (std::int64_t i = threadIdx.x; i < pass.clusters * d; i += blockDim.x) {
      copy[i] = centroids[i];
    }
    centroids = copy;
  }
  const bool accumulates = configuration.fused && pass.accumulates();
  BlockSums sums(configuration.tile, shared_memory + configuration.centroids_bytes / 8, 0, 0);
  if (accumulates) sums.clear();
  __syncthreads();

  const Centroids<Space, Real> source{centroids};
  const std::int64_t tile_rows = static_cast<std::int64_t>(blockDim.x) * kRows;
  std::int64_t rows_since_flush = 0;
  unsigned int changed = 0;
  for (std::int64_t begin = pass.rows.begin + blockIdx.x * tile_rows; begin < pass.rows.end;
       begin += gridDim.x * tile_rows) {
    if (accumulates && rows_since_flush + tile_rows > pass.scale.flush_rows) {
      __syncthreads();
      sums.flush(pass.totals, pass.scale, pass.clusters, d);
      __syncthreads();
      sums.clear();
      __syncthreads();
      rows_since_flush = 0;
    }
    rows_since_flush += tile_rows;

    // Threads beyond the last row process it again without effect.
    std::int64_t rows[kRows];
    bool there[kRows];
    for (int r = 0; r < kRows; ++r) {
      rows[r] = begin + r * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
      there[r] = rows[r] < pass.rows.end;
      if (!there[r]) rows[r] = pass.rows.end - 1;
    }
    Nearest<Real> nearest[kRows];
    find_nearest<T, Real, D>(samples, rows, source, pass.clusters, nearest);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int32_t label = nearest[r].label;
      if (there[r] && (pass.changed != nullptr || !configuration.fused)) {
        changed += pass.labels[rows[r]] != label ? 1 : 0;
        pass.labels[rows[r]] = label;
      }
      if (!accumulates) continue;
      if constexpr (kCooperate<D>) {
        const std::int64_t first_row =
            begin + r * static_cast<std::int64_t>(blockDim.x) + threadIdx.x / 32 * 32;
        add_rows<D>(sums, pass, samples, first_row, there[r] ? label : -1);
        continue;
      }
      if (!there[r]) continue;
      const T* x = samples.row(rows[r]);
      unsigned long long* sum = sums.sum_of(label);
      const int features = D > 0 ? D : static_cast<int>(d);
#pragma unroll
      for (int j = 0; j < features; ++j) {
        lloyd_cuda::add_to_limbs(sum + j, configuration.tile.limb_stride,
                                 x[j * samples.feature_stride], pass.scale, j, d);
      }
      sums.count(label);
    }
  }
  if (pass.changed != nullptr) {
    for (int offset = 16; offset > 0; offset /= 2) {
      changed += __shfl_down_sync(0xffffffffu, changed, offset);
    }
    if (threadIdx.x % 32 == 0 && changed != 0) {
      atomicAdd(pass.changed, static_cast<unsigned long long>(changed));
    }
  }
  if (!accumulates) return;
  __syncthreads();
  sums.flush(pass.totals, pass.scale, pass.clusters, d);
}

template <class T, class Real, int D, CentroidSpace Space>
void launch(const Pass& pass, const Samples<T>& samples, const Real* centroids,
            const Configuration& configuration, const lloyd_cuda::DeviceLimits& limits,
            int block_size) {
  const bool accumulates = configuration.fused && pass.accumulates();
  const std::int64_t bytes =
      configuration.centroids_bytes + (accumulates ? configuration.tile.bytes() : 0);
  const auto kernel = pass_kernel<T, Real, D, Space>;
  lloyd_cuda::allow_shared_memory(kernel, bytes, limits.shared_bytes_per_block);
  int resident = 0;
  lloyd_cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, block_size,
                                                                  static_cast<std::size_t>(bytes)),
                    "laying out a kernel");
  const std::int64_t tile_rows = static_cast<std::int64_t>(block_size) * kRows;
  const std::int64_t tiles = (pass.rows.size() + tile_rows - 1) / tile_rows;
  const std::int64_t per_multiprocessor =
      std::clamp(kThreadsPerMultiprocessor / block_size, 1, std::max(resident, 1));
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>(tiles, limits.multiprocessors * per_multiprocessor));
  if constexpr (Space == CentroidSpace::constant) {
    const lloyd_cuda::ConstantMemoryLock lock(pass.stream);
    lloyd_cuda::check(cudaMemcpyToSymbolAsync(
                          constant_memory, centroids,
                          static_cast<std::size_t>(pass.clusters * samples.features) * sizeof(Real),
                          0, cudaMemcpyDeviceToDevice, pass.stream),
                      "copying centroids to constant memory");
    kernel<<<blocks, block_size, static_cast<std::size_t>(bytes), pass.stream>>>(
        pass, samples, centroids, configuration);
  } else {
    kernel<<<blocks, block_size, static_cast<std::size_t>(bytes), pass.stream>>>(
        pass, samples, centroids, configuration);
  }
  lloyd_cuda::check_launch("pass_kernel");
}

template <class T, class Real, int D>
void launch_in_space(const Pass& pass, const Samples<T>& samples, const Real* centroids,
                     const Configuration& configuration, const lloyd_cuda::DeviceLimits& limits,
                     int block_size) {
  switch (configuration.space) {
    case CentroidSpace::shared:
      launch<T, Real, D, CentroidSpace::shared>(pass, samples, centroids, configuration, limits,
                                                block_size);
      break;
    case CentroidSpace::constant:
      launch<T, Real, D, CentroidSpace::constant>(pass, samples, centroids, configuration, limits,
                                                  block_size);
      break;
    case CentroidSpace::global:
      launch<T, Real, D, CentroidSpace::global>(pass, samples, centroids, configuration, limits,
                                                block_size);
      break;
  }
}

}  // namespace

lloyd_cuda::Layout layout_for(std::int64_t features, bool float32) {
  const bool cooperate = float32 && (features == 8 || features == 16);
  return cooperate ? lloyd_cuda::Layout::aos : lloyd_cuda::Layout::soa;
}

template <class T>
void enqueue_pass(const Pass& pass, const Samples<T>& samples, const Configuration& configuration,
                  const lloyd_cuda::DeviceLimits& limits, int block_size) {
  if (pass.rows.size() == 0) return;
  if (sizeof(T) == sizeof(double) || pass.in_float64) {
    launch_in_space<T, double, 0>(pass, samples, pass.centroids, configuration, limits, block_size);
    return;
  }
  if constexpr (sizeof(T) == sizeof(float)) {
    const auto launch_for = [&]<int D>() {
      launch_in_space<float, float, D>(pass, samples, pass.rounded, configuration, limits,
                                       block_size);
    };
    // Few features are held in registers.
    switch (samples.features) {
      case 1:
        return launch_for.template operator()<1>();
      case 2:
        return launch_for.template operator()<2>();
      case 3:
        return launch_for.template operator()<3>();
      case 4:
        return launch_for.template operator()<4>();
      case 8:
        return launch_for.template operator()<8>();
      case 16:
        return launch_for.template operator()<16>();
      default:
        return launch_for.template operator()<0>();
    }
  }
}

template void enqueue_pass(const Pass&, const Samples<float>&, const Configuration&,
                           const lloyd_cuda::DeviceLimits&, int);
template void enqueue_pass(const Pass&, const Samples<double>&, const Configuration&,
                           const lloyd_cuda::DeviceLimits&, int);

}  // namespace lloyd_cuda_fused
