// RoundedForm: the rounding errors of a centroid. Maxima of them over all centroids.
#pragma once

#include "cuda-fast/common/error_bound.hpp"
#include "cuda-fast/conversions/rounding.cuh"

namespace lloyd_cuda_fast {

// Raises a maximum in shared or global memory, atomically. Values are not negative.
__device__ inline void raise_maximum(float* largest, float value) {
  // Non-negative floats are ordered like their bits.
  atomicMax(reinterpret_cast<int*>(largest), __float_as_int(value));
}
__device__ inline void raise_maximum(CentroidNorms& largest, const CentroidNorms& norms) {
  raise_maximum(&largest.residual_ratio, norms.residual_ratio);
  raise_maximum(&largest.bias_residual, norms.bias_residual);
  raise_maximum(&largest.mu, norms.mu);
  raise_maximum(&largest.has_far, norms.has_far);
}
// Raises a maximum in a register, rounding up.
__device__ inline void raise_local_maximum(float& largest, double value) {
  largest = fmaxf(largest, __double2float_ru(value));
}

/// Values of centroids in float32 are clamped to this, in units of the screen, so that no score
/// overflows.
inline constexpr double kMaxSingle = 1e15;
/// nu0 of ScreenError for float32: bounds the norm of the rounding errors of subnormal values.
inline constexpr double kSingleUnderflow = 0x1p-140;
/// A value in float32, clamped to +-kMaxSingle.
__device__ inline float clamped_single(double value) {
  return static_cast<float>(fmin(fmax(value, -kMaxSingle), kMaxSingle));
}

// One form of a centroid: the squares of its rounded values and residuals. All lanes of the warp
// call its functions.
struct RoundedForm {
  double rounded = 0;
  double residual = 0;
  bool is_far = false;

  __device__ void add(double exact, double approximation, bool clamped) {
    rounded += approximation * approximation;
    residual += (exact - approximation) * (exact - approximation);
    is_far |= clamped;
  }
  __device__ void reduce() {
    rounded = sum_of_warp(rounded);
    residual = sum_of_warp(residual);
    is_far = __any_sync(0xffffffffu, is_far) != 0;
  }
  // The bias. A clamped form has that of its own values: BOUND.md, step 8.
  __device__ double squared_norm(double squared) const { return is_far ? rounded : squared; }
  // `nu0`: of ScreenError; `bias_residual`: of the stored bias, in squared units of the screen.
  __device__ void raise_norms(CentroidNorms& norms, double squared, double nu0,
                              double bias_residual) const {
    if (is_far) {
      norms.has_far = 1;
      return;
    }
    const double norm = sqrt(squared);
    const double nu = sqrt(residual) * kMargin + norm * 0x1p-40;
    if (nu > nu0) raise_local_maximum(norms.residual_ratio, (nu - nu0) / norm * kMargin);
    raise_local_maximum(norms.bias_residual, bias_residual * kMargin + squared * 0x1p-40);
  }
};

}  // namespace lloyd_cuda_fast
