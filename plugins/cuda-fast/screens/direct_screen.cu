#include "cuda-fast/screens/direct_screen.hpp"

#include <algorithm>

#include "cuda-fast/decisions/decisions.cuh"
#include "cuda-fast/screens/lowest_scores.cuh"
#include "cuda/device/check.hpp"
#include "cuda/passes/halt_flag.cuh"

namespace lloyd_cuda_fast {
namespace {

using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 4;

// Arguments of the screen.
template <class T>
struct DirectScreenArguments {
  DecisionArguments decision;
  Samples<T> samples;
  DeviceUnits units;
  const float* values;
  const float* biases;
  const CentroidNorms* norms;
  const std::uint8_t* far;
  DirectRows rows;

  // The samples to screen, counted from 0.
  __device__ std::int64_t count() const {
    if (rows == DirectRows::all) return decision.pass.rows.size();
    return *decision.overflow.count;
  }
  // The row of sample i, relative to the slab.
  __device__ std::int32_t row(std::int64_t i) const {
    if (rows == DirectRows::all) return static_cast<std::int32_t>(i);
    return decision.overflow.rows[i];
  }
  __device__ float value(const T* x, std::int64_t j) const {
    const auto at = static_cast<double>(x[j * samples.feature_stride]);
    return static_cast<float>((at - units.origin[j]) * units.scale);
  }
  // Stores the label of sample i if the scores prove it; otherwise lists the sample as hard. All
  // lanes of a warp must call it. Returns 1 if the label has changed.
  __device__ unsigned int store_or_list(std::int64_t i, bool exists, const LowestScores& scores,
                                        float squared_norm) const {
    const ScreenError error = ScreenError::of_values(
        rounded_up_norm(squared_norm, samples.features), *norms, samples.features);
    const bool proven = (far[scores.nearest] & kFarInValues) == 0 &&
                        proves_label(scores.best, scores.second, error);
    const std::int32_t at = exists ? row(i) : 0;
    add_row(decision.hard, at, exists && !proven);
    return store_label(decision, at, scores.nearest, exists && proven) ? 1 : 0;
  }
};

// A thread scores whole samples; their features stay in registers, and centroids are broadcast from
// shared memory, kPanel at a time.
template <class T, int D>
__global__ void __launch_bounds__(kThreads) few_features_kernel(DirectScreenArguments<T> direct) {
  constexpr int kRows = 4;  // samples of a thread
  constexpr int kPanel = 256;
  __shared__ float centroids[kPanel * (D + 1)];
  const Pass& pass = direct.decision.pass;
  if (lloyd_cuda::block_halted(pass.halt)) return;
  const std::int64_t count = direct.count();
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads * kRows;
  unsigned int changed = 0;
  for (std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kThreads * kRows; begin < count;
       begin += step) {
    float y[kRows][D];
    float squared_norms[kRows] = {};
    LowestScores lowest[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t i = begin + r * kThreads + threadIdx.x;
      const T* const x =
          direct.samples.row(pass.rows.begin + (i < count ? direct.row(i) : direct.row(begin)));
#pragma unroll
      for (int j = 0; j < D; ++j) {
        y[r][j] = j < direct.samples.features ? direct.value(x, j) : 0;
        squared_norms[r] = fmaf(y[r][j], y[r][j], squared_norms[r]);
      }
    }
    for (std::int64_t first = 0; first < pass.clusters; first += kPanel) {
      const auto panel = static_cast<int>(min(std::int64_t{kPanel}, pass.clusters - first));
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < panel * (D + 1); i += kThreads) {
        const int c = i / (D + 1);
        const int j = i % (D + 1);
        const std::int64_t d = direct.samples.features;
        centroids[i] = j == D  ? direct.biases[first + c]
                       : j < d ? direct.values[(first + c) * d + j]
                               : 0;
      }
      __syncthreads();
#pragma unroll 4
      for (int c = 0; c < panel; ++c) {
        const float* const centroid = centroids + c * (D + 1);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          float score = centroid[D];
#pragma unroll
          for (int j = 0; j < D; ++j) score = fmaf(y[r][j], centroid[j], score);
          lowest[r].update(score, static_cast<std::int32_t>(first) + c);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t i = begin + r * kThreads + threadIdx.x;
      changed += direct.store_or_list(i, i < count, lowest[r], squared_norms[r]);
    }
  }
  add_block_sum(pass.changed, changed);
}

// A block scores tiles of kTile samples and kTile centroids; a thread has 8 x 8 scores of a tile:
// samples 8 y to 8 y + 7, centroids 4 x to 4 x + 3 and 64 + 4 x to 64 + 4 x + 3.
constexpr int kTile = 128;
constexpr int kDepth = 16;         // features that are in shared memory at a time
constexpr int kPitch = kTile + 4;  // keeps 16-byte alignment, spreads banks

template <class T>
__global__ void __launch_bounds__(kThreads) tile_kernel(DirectScreenArguments<T> direct) {
  __shared__ __align__(16) float samples[kDepth][kPitch];
  __shared__ __align__(16) float centroids[kDepth][kPitch];
  const Pass& pass = direct.decision.pass;
  if (lloyd_cuda::block_halted(pass.halt)) return;
  const std::int64_t count = direct.count();
  const std::int64_t d = direct.samples.features;
  const int x = static_cast<int>(threadIdx.x) % 16;
  const int y = static_cast<int>(threadIdx.x) / 16;
  unsigned int changed = 0;
  for (std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kTile; begin < count;
       begin += static_cast<std::int64_t>(gridDim.x) * kTile) {
    LowestScores lowest[8];
    float squared_norms[8] = {};
    // Each thread copies half of the kDepth features of a sample, and of a centroid.
    const int copied = static_cast<int>(threadIdx.x) % kTile;
    const int first_copied = static_cast<int>(threadIdx.x) / kTile * (kDepth / 2);
    const std::int64_t sample = begin + copied < count ? begin + copied : begin;
    const T* const row = direct.samples.row(pass.rows.begin + direct.row(sample));
    for (std::int64_t first = 0; first < pass.clusters; first += kTile) {
      float scores[8][8];
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const std::int64_t centroid = first + c / 4 * 64 + x * 4 + c % 4;
        const float bias = centroid < pass.clusters ? direct.biases[centroid] : FLT_MAX;
#pragma unroll
        for (int r = 0; r < 8; ++r) scores[r][c] = bias;
      }
      for (std::int64_t depth = 0; depth < d; depth += kDepth) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kDepth / 2; ++i) {
          const std::int64_t j = depth + first_copied + i;
          samples[first_copied + i][copied] = j < d ? direct.value(row, j) : 0;
          centroids[first_copied + i][copied] =
              j < d && first + copied < pass.clusters ? direct.values[(first + copied) * d + j] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
          float a[8];
          float b[8];
          *reinterpret_cast<float4*>(a) = *reinterpret_cast<const float4*>(&samples[i][y * 8]);
          *reinterpret_cast<float4*>(a + 4) =
              *reinterpret_cast<const float4*>(&samples[i][y * 8 + 4]);
          *reinterpret_cast<float4*>(b) = *reinterpret_cast<const float4*>(&centroids[i][x * 4]);
          *reinterpret_cast<float4*>(b + 4) =
              *reinterpret_cast<const float4*>(&centroids[i][64 + x * 4]);
#pragma unroll
          for (int r = 0; r < 8; ++r) {
#pragma unroll
            for (int c = 0; c < 8; ++c) scores[r][c] = fmaf(a[r], b[c], scores[r][c]);
          }
          if (first == 0) {
#pragma unroll
            for (int r = 0; r < 8; ++r) squared_norms[r] = fmaf(a[r], a[r], squared_norms[r]);
          }
        }
      }
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        const auto centroid = static_cast<std::int32_t>(first + c / 4 * 64 + x * 4 + c % 4);
#pragma unroll
        for (int r = 0; r < 8; ++r) lowest[r].update(scores[r][c], centroid);
      }
    }
    // Reduces over the 16 threads that share samples; thread x then has the result of sample x % 8.
    LowestScores mine;
    float squared_norm = 0;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
#pragma unroll
      for (int offset = 1; offset < 16; offset *= 2) {
        const float best = __shfl_xor_sync(kFullWarp, lowest[r].best, offset);
        const float second = __shfl_xor_sync(kFullWarp, lowest[r].second, offset);
        const std::int32_t nearest = __shfl_xor_sync(kFullWarp, lowest[r].nearest, offset);
        lowest[r].merge(best, second, nearest);
      }
      if (x % 8 != r) continue;
      mine = lowest[r];
      squared_norm = squared_norms[r];
    }
    const std::int64_t i = begin + y * 8 + x % 8;
    changed += direct.store_or_list(i, x < 8 && i < count, mine, squared_norm);
  }
  add_block_sum(pass.changed, changed);
}

template <class T>
using DirectKernel = void (*)(DirectScreenArguments<T>);

template <class T>
DirectKernel<T> kernel_for(std::int64_t features) {
  if (features == 1) return few_features_kernel<T, 1>;
  if (features == 2) return few_features_kernel<T, 2>;
  if (features <= 4) return few_features_kernel<T, 4>;
  if (features <= 8) return few_features_kernel<T, 8>;
  return tile_kernel<T>;
}

}  // namespace

template <class T>
void enqueue_direct_screen(const DecisionArguments& decision, const Samples<T>& samples,
                           DirectRows rows, const ConvertedCentroids& centroids,
                           const DeviceUnits& units, int multiprocessors) {
  if (decision.pass.rows.size() == 0) return;
  const DirectScreenArguments<T> direct{decision,
                                        samples,
                                        units,
                                        centroids.values(),
                                        centroids.biases(),
                                        centroids.value_norms(),
                                        centroids.far(),
                                        rows};
  kernel_for<T>(
      samples.features)<<<static_cast<unsigned>(multiprocessors * kBlocksPerMultiprocessor),
                          kThreads, 0, decision.pass.stream>>>(direct);
  lloyd_cuda::check_launch("direct_screen_kernel");
}

template void enqueue_direct_screen(const DecisionArguments&, const Samples<float>&, DirectRows,
                                    const ConvertedCentroids&, const DeviceUnits&, int);
template void enqueue_direct_screen(const DecisionArguments&, const Samples<double>&, DirectRows,
                                    const ConvertedCentroids&, const DeviceUnits&, int);

}  // namespace lloyd_cuda_fast
