// FloatLabeller: the nearest centroids by distances in float32, or by the definition in float64.
#pragma once

#include <cstdint>
#include <limits>

#include "cuda/fused/fused_pass.cuh"
#include "cuda/passes/centroid_space.hpp"
#include "cuda/passes/distance.cuh"

namespace lloyd_cuda_fused {

using lloyd_cuda::CentroidSpace;

// Centroids per thread at a time, for a number of features that is not in registers.
constexpr int kGroup = 8;

// True if rows are read four values at a time.
template <class T, int D>
constexpr bool kReadsFour = kCooperate<D> && sizeof(T) == sizeof(float);
// Centroids that a thread reads together, such that they end on a multiple of 16 bytes.
template <int D>
constexpr int kTogether = D % 4 == 0   ? 1
                          : D % 2 == 0 ? 2
                                       : 4;

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

template <class T, class Real, int D>
__device__ inline void read_row(const Samples<T>& samples, std::int64_t row, Real (&x)[D]) {
  const T* const from = samples.row(row);
  if constexpr (kReadsFour<T, D>) {
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

// Compares rows with centroids c, ..., c + kCount - 1, which are read four values at a time if
// `kFour` is true. Then c x D is a multiple of 4.
template <int kCount, bool kFour, int D, class C, class Real>
__device__ inline void compare(const Real (&x)[kRows][D], const C& centroids, int c,
                               Nearest<Real> (&nearest)[kRows]) {
  Real distance[kCount][kRows] = {};
  const auto add = [&](int at, Real value) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      distance[at / D][r] =
          lloyd_cuda::add_square(distance[at / D][r], lloyd_cuda::subtract(x[r][at % D], value));
    }
  };
#pragma unroll
  for (int at = 0; at < kCount * D; at += kFour ? 4 : 1) {
    if constexpr (kFour) {
      const float4 four = centroids.four(c * D + at);
      add(at, four.x);
      add(at + 1, four.y);
      add(at + 2, four.z);
      add(at + 3, four.w);
    } else {
      add(at, centroids[c * D + at]);
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) nearest[r].update(distance[i][r], c + i);
  }
}

// The nearest centroids of kRows rows. D is the number of features if they are held in
// registers; 0: any number.
template <class T, class Real, int D, class C>
__device__ inline void find_nearest(const Samples<T>& samples, const std::int64_t (&rows)[kRows],
                                    const C& centroids, std::int64_t clusters,
                                    Nearest<Real> (&nearest)[kRows]) {
  if constexpr (D > 0) {
    Real x[kRows][D];
#pragma unroll
    for (int r = 0; r < kRows; ++r) read_row<T, Real, D>(samples, rows[r], x[r]);
    const int k = static_cast<int>(clusters);
    int c = 0;
    for (; c + kTogether<D> <= k; c += kTogether<D>) {
      compare<kTogether<D>, true, D>(x, centroids, c, nearest);
    }
    for (; c < k; ++c) compare<1, false, D>(x, centroids, c, nearest);
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

template <class Real>
__device__ const Real* centroids_of(const Pass& pass) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return pass.rounded;
  } else {
    return pass.centroids;
  }
}

// A labeller (cuda/fused/fused_pass.cuh). D: 0 for any number of features.
template <class T, class Real, int D, CentroidSpace Space>
class FloatLabeller {
 public:
  using Value = T;
  struct Arguments {};
  static constexpr int kFeatures = D;
  // Without this bound some kernels use more registers than a block of that size has.
  static constexpr int kMaxThreads = max_block_size(D, true);

  __device__ FloatLabeller(const Arguments&, std::int64_t clusters, std::int64_t features,
                           void* shared)
      : clusters_(clusters), features_(features), copy_(static_cast<Real*>(shared)) {}

  __device__ void load(const Pass& pass) {
    const Real* const values = centroids_of<Real>(pass);
    if constexpr (Space == CentroidSpace::shared) {
      copy(values);
    } else {
      centroids_.values = values;
    }
  }
  __device__ void load(const double* centroids) { copy(centroids); }

  __device__ void label(const Samples<T>& samples, const std::int64_t (&rows)[kRows],
                        const bool (&)[kRows], std::int32_t (&labels)[kRows]) const {
    Nearest<Real> nearest[kRows];
    find_nearest<T, Real, D>(samples, rows, centroids_, clusters_, nearest);
#pragma unroll
    for (int r = 0; r < kRows; ++r) labels[r] = nearest[r].label;
  }
  __device__ void finish() {}

 private:
  template <class From>
  __device__ void copy(const From* values) {
    for (std::int64_t i = threadIdx.x; i < clusters_ * features_; i += blockDim.x) {
      copy_[i] = static_cast<Real>(values[i]);
    }
    centroids_.values = copy_;
  }

  std::int64_t clusters_;
  std::int64_t features_;
  Real* copy_;
  Centroids<Space, Real> centroids_{};
};

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
