// A pass of a grid: labels samples and, if fused, sums them in shared memory.
#pragma once

#include <cstdint>
#include <limits>

#include "block_sums.cuh"
#include "cuda/passes/distance.cuh"
#include "cuda/passes/halt_flag.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_fused {

using lloyd_cuda::CentroidSpace;
using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

// Without this bound some kernels use more registers than a block of that size has.
template <int D>
constexpr int kMaxThreads = max_block_size(D, true);
// Samples per thread, so that a centroid that is read serves several.
constexpr int kRows = 2;
// Centroids per thread at a time, for a number of features that is not in registers.
constexpr int kGroup = 8;

// True if a warp adds one row at a time, one feature per lane; rows are then contiguous.
template <int D>
constexpr bool kCooperate = D >= 8;
// Values per load of centroids, and of samples in contiguous rows.
template <class Real, int D>
constexpr int kVector = sizeof(Real) == sizeof(float) && D % 4 == 0 ? 4 : 1;

static __constant__ __align__(16) double constant_memory[lloyd_cuda::kConstantBytes / 8];

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
  // Four values; `index` is a multiple of 4.
  __device__ float4 four(std::int64_t index) const {
    const auto* const values = reinterpret_cast<const float4*>(at(index));
    return Space == CentroidSpace::global ? __ldg(values) : *values;
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

template <int Step, class C, class Real>
__device__ inline void read_values(const C& centroids, int index, Real (&values)[Step]) {
  if constexpr (Step == 4) {
    const float4 four = centroids.four(index);
    values[0] = four.x;
    values[1] = four.y;
    values[2] = four.z;
    values[3] = four.w;
  } else {
    values[0] = centroids[index];
  }
}

template <class T, class Real, int D>
__device__ inline void read_row(const Samples<T>& samples, std::int64_t row, Real (&x)[D]) {
  const T* const from = samples.row(row);
  if constexpr (kCooperate<D> && sizeof(T) == sizeof(float) && kVector<Real, D> == 4) {
#pragma unroll
    for (int j = 0; j < D; j += 4) {
      const float4 four = __ldg(reinterpret_cast<const float4*>(from + j));
      x[j] = four.x;
      x[j + 1] = four.y;
      x[j + 2] = four.z;
      x[j + 3] = four.w;
    }
  } else {
#pragma unroll
    for (int j = 0; j < D; ++j) x[j] = static_cast<Real>(from[j * samples.feature_stride]);
  }
}

// The nearest centroids of kRows rows. D is the number of features if they are held in registers;
// 0: any number.
template <class T, class Real, int D, class C>
__device__ inline void find_nearest(const Samples<T>& samples, const std::int64_t (&rows)[kRows],
                                    const C& centroids, std::int64_t clusters,
                                    Nearest<Real> (&nearest)[kRows]) {
  if constexpr (D > 0) {
    constexpr int kStep = kVector<Real, D>;
    Real x[kRows][D];
#pragma unroll
    for (int r = 0; r < kRows; ++r) read_row<T, Real, D>(samples, rows[r], x[r]);
    const int k = static_cast<int>(clusters);
    for (int c = 0; c < k; ++c) {
      Real distance[kRows] = {};
#pragma unroll
      for (int j = 0; j < D; j += kStep) {
        Real values[kStep];
        read_values<kStep>(centroids, c * D + j, values);
#pragma unroll
        for (int i = 0; i < kStep; ++i) {
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            distance[r] =
                lloyd_cuda::add_square(distance[r], lloyd_cuda::subtract(x[r][j + i], values[i]));
          }
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

// Destination of sums: shared memory, or the totals in global memory if the sums of a block do not
// fit and only changed samples are added.
struct SumTarget {
  BlockSums& block;
  const Pass& pass;
  bool uses_block;
  std::int64_t features;

  // Adds feature j of a sample to a cluster, or subtracts it (sign = -1).
  template <class T>
  __device__ void add(std::int64_t label, std::int64_t j, T x, int sign) {
    const T value = sign < 0 ? -x : x;
    if (uses_block) {
      lloyd_cuda::add_to_limbs(block.sum_of(label) + j, block.tile.limb_stride, value,
                               pass.scale.exponents[j]);
    } else {
      lloyd_cuda::atomic_add(pass.totals.sums + label * features + j,
                             lloyd_cuda::exact_value(value, pass.scale, j));
    }
    if (j == 0) count(label, sign);
  }
  __device__ void count(std::int64_t label, int sign) {
    if (uses_block) {
      block.count(label, sign);
    } else {
      atomicAdd(pass.totals.counts + label,
                static_cast<unsigned long long>(static_cast<long long>(sign)));
    }
  }
};

// Adds rows of a warp to the clusters `to`, and subtracts them from the clusters `from` (-1: none).
// Each lane holds the labels of one row; rows with to = -1 are left out. Neighbouring lanes add
// neighbouring features of a row, so that they access different banks. Rows are contiguous.
template <int D, class T>
__device__ inline void add_rows(SumTarget& target, const Samples<T>& samples,
                                std::int64_t first_row, std::int32_t to, std::int32_t from) {
  constexpr int kTogether = 32 / D;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int feature = lane % D;
  unsigned int pending = __ballot_sync(0xffffffffu, to >= 0);
  while (pending != 0) {
    int row = -1;
#pragma unroll
    for (int r = 0; r < kTogether; ++r) {
      if (lane / D == r) row = __ffs(static_cast<int>(pending)) - 1;  // -1 if none is left
      pending &= pending - 1;
    }
    const int source = row < 0 ? 0 : row;
    const std::int32_t row_to = __shfl_sync(0xffffffffu, to, source);
    const std::int32_t row_from = __shfl_sync(0xffffffffu, from, source);
    if (row < 0) continue;
    const T x = samples.row(first_row + row)[feature];
    target.add(row_to, feature, x, 1);
    if (row_from >= 0) target.add(row_from, feature, x, -1);
  }
}

// Assigns and sums the rows of a pass, grid-wide. Returns false for all threads of a block if the
// fit has halted.
template <class T, class Real, int D, CentroidSpace Space>
__device__ inline bool run_pass(const Pass& pass, const Samples<T>& samples, const Real* centroids,
                                const Configuration& configuration,
                                unsigned long long* shared_memory) {
  if (lloyd_cuda::block_halted(pass.halt)) return false;
  const std::int64_t d = samples.features;
  if constexpr (Space == CentroidSpace::shared) {
    Real* copy = reinterpret_cast<Real*>(shared_memory);
    for (std::int64_t i = threadIdx.x; i < pass.clusters * d; i += blockDim.x) {
      copy[i] = centroids[i];
    }
    centroids = copy;
  }
  const bool accumulates = configuration.fused && pass.accumulates();
  auto* const block_memory =
      reinterpret_cast<unsigned int*>(shared_memory + configuration.centroids_bytes / 8);
  BlockSums sums(configuration.tile, block_memory, 0, 0);
  if (accumulates) sums.clear();
  SumTarget target{sums, pass, accumulates, d};
  const bool updates_totals = !configuration.fused && sums_changes_only(pass);
  __syncthreads();

  const Centroids<Space, Real> source{centroids};
  const std::int64_t tile_rows = static_cast<std::int64_t>(blockDim.x) * kRows;
  std::int64_t rows_since_flush = 0;
  unsigned int changed = 0;
  for (std::int64_t begin = pass.rows.begin + blockIdx.x * tile_rows; begin < pass.rows.end;
       begin += gridDim.x * tile_rows) {
    if (accumulates && rows_since_flush + tile_rows > lloyd_cuda::kSharedLimbRows) {
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
    bool in_range[kRows];
    for (int r = 0; r < kRows; ++r) {
      rows[r] = begin + r * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
      in_range[r] = rows[r] < pass.rows.end;
      if (!in_range[r]) rows[r] = pass.rows.end - 1;
    }
    Nearest<Real> nearest[kRows];
    find_nearest<T, Real, D>(samples, rows, source, pass.clusters, nearest);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int32_t label = nearest[r].label;
      std::int32_t former = -1;
      if (in_range[r] && (pass.changed != nullptr || !configuration.fused)) {
        former = pass.labels[rows[r]];
        if (former != label) {
          ++changed;
          pass.labels[rows[r]] = label;
        }
      }
      if (!accumulates && !updates_totals) continue;
      std::int32_t to = in_range[r] ? label : -1;
      if (!pass.sums_changes) {
        former = -1;
      } else if (former == label) {
        to = -1;
      }
      if constexpr (kCooperate<D>) {
        const std::int64_t first_row =
            begin + r * static_cast<std::int64_t>(blockDim.x) + threadIdx.x / 32 * 32;
        add_rows<D>(target, samples, first_row, to, former);
        continue;
      }
      if (to < 0) continue;
      const T* x = samples.row(rows[r]);
      const int features = D > 0 ? D : static_cast<int>(d);
#pragma unroll
      for (int j = 0; j < features; ++j) {
        const T value = x[j * samples.feature_stride];
        target.add(to, j, value, 1);
        if (former >= 0) target.add(former, j, value, -1);
      }
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
  if (accumulates) {
    __syncthreads();
    sums.flush(pass.totals, pass.scale, pass.clusters, d);
  }
  return true;
}

template <class Real>
__host__ __device__ const Real* centroids_of(const Pass& pass) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return pass.rounded;
  } else {
    return pass.centroids;
  }
}

// Calls launch.operator()<Real, D>() for the type of the distances and the number of features in
// registers.
template <class T, class Launch>
void launch_for(const Pass& pass, std::int64_t features, const Launch& launch) {
  if (sizeof(T) == sizeof(double) || pass.in_float64) {
    launch.template operator()<double, 0>();
    return;
  }
  if constexpr (sizeof(T) == sizeof(float)) {
    // Few features are held in registers.
    switch (features) {
      case 1:
        return launch.template operator()<float, 1>();
      case 2:
        return launch.template operator()<float, 2>();
      case 3:
        return launch.template operator()<float, 3>();
      case 4:
        return launch.template operator()<float, 4>();
      case 8:
        return launch.template operator()<float, 8>();
      case 16:
        return launch.template operator()<float, 16>();
      case 32:
        return launch.template operator()<float, 32>();
      default:
        return launch.template operator()<float, 0>();
    }
  }
}

}  // namespace lloyd_cuda_fused
