// The error bound of a screening score. Derivation: BOUND.md; the numbers below are its steps.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda-fast/common/screen_shape.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda_fast {

/// Largest norms of the samples converted so far, in units of the screen, rounded up.
struct SampleNorms {
  float rounded = 0;   ///< largest |y'|
  float residual = 0;  ///< largest |y - y'|
};

/// What the bound needs of the centroids of a pass, in units of the screen, rounded up.
struct CentroidNorms {
  float exact = 0;     ///< largest |e|
  float rounded = 0;   ///< largest |e'|
  float residual = 0;  ///< largest |e - e'|
  float bias = 0;      ///< largest bias |e|^2 + mu
  /// Largest difference between a bias and its stored form, plus ScreenUnits::underflow.
  float bias_residual = 0;
};

/// Relative error of one step of an accumulation by a tensor core (step 3).
inline constexpr float kStepError = 20 * 0x1p-23f;
/// Packing an index into the low bits of two scores changes their difference by at most this times
/// the sum of their magnitudes (step 4).
inline constexpr float kPackingError = 0x1p-16f;
/// Covers results of single operations that underflow, in units of the screen (step 6).
inline constexpr float kUnderflow = 0x1p-100f;
/// Makes up for the roundings of the bound itself.
inline constexpr float kBoundSlack = 1 + 0x1p-10f;

/// Columns of the image beyond the last centroid have scores above this: their bias is three times
/// the largest half in units of 2^15, 6.4e9.
inline constexpr float kMinPaddingScore = 6.0e9F;

/// Bounds |S' - S| for all centroids (steps 1 to 3 and 5 to 7), where S is the exact score of a
/// sample with `rounded` = |y'| and `residual` = |y - y'|, and S' the computed one before packing.
/// `steps`: ScreenShape::steps. Infinite or NaN if a norm is.
LLOYD_HOST_DEVICE inline float score_error(float rounded, float residual,
                                           const CentroidNorms& centroids, int steps) {
  const float norm = rounded + residual;
  const float magnitude =
      kBoundSlack * (norm * norm + centroids.bias + 2 * rounded * centroids.rounded);
  const float rounding =
      2 * (residual * centroids.exact + rounded * centroids.residual) + centroids.bias_residual;
  // The last term covers the roundings of the definition (step 5).
  const float accumulation =
      (static_cast<float>(steps) * kStepError + static_cast<float>(steps) * 0x1p-44f) * magnitude;
  return kBoundSlack * (rounding + accumulation) + kUnderflow;
}

/// The same bound for scores that are accumulated in float32 by d fused multiply-adds. `norm`: the
/// sample's norm in units of the screen, rounded up; its values are rounded to float32.
LLOYD_HOST_DEVICE inline float float32_score_error(float norm, const CentroidNorms& centroids,
                                                   std::int64_t features) {
  constexpr float kRounding = 0x1p-23f;  // 2 u: one u for rounding y, one for the error of `norm`
  const float magnitude =
      kBoundSlack * (centroids.bias + 2 * norm * centroids.rounded + norm * norm);
  const float rounding = 2 * (kRounding * norm * centroids.exact + norm * centroids.residual) +
                         centroids.bias_residual;
  const float accumulation = (static_cast<float>(features) + 3) * 0x1p-24f * magnitude;
  return kBoundSlack * (rounding + accumulation) + kUnderflow;
}

/// True if the score `second` of every other centroid proves that the centroid of score `best` is
/// the nearest. False if a value is NaN.
LLOYD_HOST_DEVICE inline bool proves_label(float best, float second, float error) {
  return second - best > 2 * error + kPackingError * (std::fabs(best) + std::fabs(second));
}

/// Upper limit of the computed score (before packing) of any centroid that may be nearest. Infinite
/// or NaN: all may be.
LLOYD_HOST_DEVICE inline float candidate_limit(float best, float error) {
  return best + 2 * error + kPackingError * std::fabs(best);
}

}  // namespace lloyd_cuda_fast
