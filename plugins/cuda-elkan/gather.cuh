// Squared distances of one sample to 32 arbitrary centroids, by one warp.
#pragma once

#include <cstdint>

#include "block.cuh"
#include "cuda/passes/distance.cuh"

namespace lloyd_cuda_elkan {

inline constexpr int kGatherFeatures = 8;

/// Shared memory of a warp: a chunk of features of the sample and of each lane's centroid.
struct GatherMemory {
  static constexpr int kStride = kGatherFeatures + 1;
  double sample[kGatherFeatures];
  double centroids[kWarp * kStride];
};

/// The squared distance, by the definition, of a sample (d contiguous values) to the lane's
/// centroid. Lanes without a centroid pass -1 and get 0. For coalescing, neighbouring lanes load
/// neighbouring features of the same vector. All lanes must call it.
template <class T>
__device__ inline double gathered_distance(const T* x, const double* centroids, int centroid,
                                           std::int64_t d, GatherMemory& memory) {
  constexpr int kRowsAtOnce = kWarp / kGatherFeatures;
  const int lane = threadIdx.x % kWarp;
  const int feature = lane % kGatherFeatures;
  const unsigned lanes = __ballot_sync(kFullWarp, centroid >= 0);
  double sum = 0;
  if (lanes == 0) return sum;
  for (std::int64_t first = 0; first < d; first += kGatherFeatures) {
    const int width = static_cast<int>(d - first < kGatherFeatures ? d - first : kGatherFeatures);
    __syncwarp();  // the former chunk has been read
    if (lane < width) memory.sample[lane] = static_cast<double>(x[first + lane]);
#pragma unroll
    for (int row = 0; row < kWarp; row += kRowsAtOnce) {
      if ((lanes >> row & ((1u << kRowsAtOnce) - 1)) == 0) continue;
      const int of_lane = row + lane / kGatherFeatures;
      const std::int64_t from = __shfl_sync(kFullWarp, centroid, of_lane);
      if (from >= 0 && feature < width) {
        memory.centroids[of_lane * GatherMemory::kStride + feature] =
            centroids[from * d + first + feature];
      }
    }
    __syncwarp();
    if (centroid < 0) continue;
    for (int j = 0; j < width; ++j) {
      sum = lloyd_cuda::add_square(
          sum, lloyd_cuda::subtract(memory.sample[j],
                                    memory.centroids[lane * GatherMemory::kStride + j]));
    }
  }
  return sum;
}

}  // namespace lloyd_cuda_elkan
