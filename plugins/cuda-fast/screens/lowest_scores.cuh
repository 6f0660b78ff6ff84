// LowestScores: the two lowest scores of a sample so far, in float32.
#pragma once

#include <cfloat>
#include <cstdint>

#include "cuda-fast/common/error_bound.hpp"

namespace lloyd_cuda_fast {

/// The two lowest scores of a sample, and the centroid of the lowest.
struct LowestScores {
  float best = FLT_MAX;
  float second = FLT_MAX;
  std::int32_t nearest = 0;

  __device__ __forceinline__ void update(float score, std::int32_t centroid) {
    second = fminf(second, fmaxf(best, score));
    nearest = score < best ? centroid : nearest;
    best = fminf(best, score);
  }
  __device__ __forceinline__ void merge(float other_best, float other_second,
                                        std::int32_t other_nearest) {
    second = fminf(fminf(second, other_second), fmaxf(best, other_best));
    nearest = other_best < best ? other_nearest : nearest;
    best = fminf(best, other_best);
  }
};

/// |y|, rounded up, from the sum of d squares in float32.
__device__ inline float rounded_up_norm(float squared, std::int64_t features) {
  return sqrtf(squared) * (1 + static_cast<float>(features + 4) * 0x1p-24f) * kBoundSlack;
}

}  // namespace lloyd_cuda_fast
