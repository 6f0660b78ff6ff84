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

/// What the bound needs of the centroids of a pass, in units of the screen, rounded up. Far
/// centroids, whose values or bias were clamped, do not count.
struct CentroidNorms {
  /// Largest (|e - e'| - nu0) / |e|, with nu0 of ScreenError.
  float residual_ratio = 0;
  /// Largest difference between a bias and its stored form, plus ScreenUnits::underflow.
  float bias_residual = 0;
  float mu = 0;       ///< the constant in all scores
  float has_far = 0;  ///< 1 if there are far centroids

  /// Raises each value to at least that of `other`.
  LLOYD_HOST_DEVICE void raise(const CentroidNorms& other) {
    residual_ratio = std::fmax(residual_ratio, other.residual_ratio);
    bias_residual = std::fmax(bias_residual, other.bias_residual);
    mu = std::fmax(mu, other.mu);
    has_far = std::fmax(has_far, other.has_far);
  }
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

/// Bits of ConvertedCentroids::far(): in which form a centroid was clamped.
enum FarCentroid : std::uint8_t { kFarInImage = 1, kFarInValues = 2 };

/// Columns of the image beyond the last centroid have scores above this: their bias is three times
/// the largest half in units of 2^15, 6.4e9.
inline constexpr float kMinPaddingScore = 6.0e9F;

/// The error bound of the scores of one sample (BOUND.md).
class ScreenError {
 public:
  /// For tensor cores. `rounded`: |y'|; `residual`: |y - y'|; `steps`: ScreenShape::steps.
  LLOYD_HOST_DEVICE static ScreenError of_image(float rounded, float residual,
                                                const CentroidNorms& centroids, int steps) {
    ScreenError error;
    error.rounded_ = rounded;
    error.residual_ = residual;
    error.centroids_ = centroids;
    // The last term covers the roundings of the definition (step 5).
    error.accumulation_ = static_cast<float>(steps) * (kStepError + 0x1p-44f);
    error.nu0_ = std::sqrt(static_cast<float>(steps)) * 0x1p-23f;
    error.packing_ = kPackingError;
    return error;
  }
  /// of_image() for a sample with these norms; centroids and steps are those of this error.
  LLOYD_HOST_DEVICE ScreenError of_sample(float rounded, float residual) const {
    ScreenError error = *this;
    error.rounded_ = rounded;
    error.residual_ = residual;
    return error;
  }
  /// For the direct screen of d features. `norm`: |y|, rounded up; y is rounded to float32.
  LLOYD_HOST_DEVICE static ScreenError of_values(float norm, const CentroidNorms& centroids,
                                                 std::int64_t features) {
    ScreenError error;
    error.rounded_ = norm;
    error.residual_ = 0x1p-23f * norm;  // 2 u: one u for rounding y, one for the error of `norm`
    error.centroids_ = centroids;
    // One more rounding for the bias, and three for the definition.
    error.accumulation_ = (static_cast<float>(features) + 4) * 0x1p-24f;
    error.offset_ = norm * norm * kBoundSlack;
    return error;
  }

  /// Bounds |S' - S| for a centroid at `distance` from y (steps 1 to 3 and 5 to 7). Infinite or NaN
  /// if a norm is.
  LLOYD_HOST_DEVICE float at(float distance) const {
    return for_centroids(rounded_ + residual_ + distance);
  }
  /// Bounds |S' - S| for every centroid with a norm of at most `centroid`, unless it is far, and
  /// every sample whose norms are at most those of this error.
  LLOYD_HOST_DEVICE float for_centroids(float centroid) const {
    const float norm = rounded_ + residual_;
    const float nu = centroids_.residual_ratio * centroid + nu0_;
    const float rounding = 2 * (residual_ * centroid + rounded_ * nu) + centroids_.bias_residual;
    const float sum = norm + centroid + nu;
    const float magnitude = sum * sum + centroids_.mu;
    return kBoundSlack * (rounding + kBoundSlack * accumulation_ * magnitude) + kUnderflow;
  }
  /// Bounds S' - S for every centroid with a computed score of at most S' = `score` (step 8). Far
  /// centroids included.
  LLOYD_HOST_DEVICE float below(float score) const { return at(distance(score)); }
  /// Bounds S - S' for the centroid of the computed score `score`, unless it is far (step 9).
  /// Infinite if no bound is found.
  LLOYD_HOST_DEVICE float above(float score) const {
    const float squared = std::fmax(score + offset_, 0.0F);
    const float radius = distance(score + 4 * at(std::sqrt(squared)));
    const float error = at(radius);
    return kBoundSlack * (squared + error) <= radius * radius ? error : HUGE_VALF;
  }
  /// Bounds both S - S' for the centroid of the computed score `best`, unless it is far, and S' - S
  /// for every centroid with a computed score of at most S' = `second` (step 9). Infinite if no
  /// bound is found.
  LLOYD_HOST_DEVICE float above_and_below(float best, float second) const {
    const float squared = std::fmax(best + offset_, 0.0F);
    const float radius = distance(second);
    const float error = at(radius);
    return kBoundSlack * (squared + error) <= radius * radius ? error : HUGE_VALF;
  }

  /// Bounds what packing changes in the difference of scores with these magnitudes (step 4).
  LLOYD_HOST_DEVICE float packing(float best, float second) const {
    return packing_ * (std::fabs(best) + std::fabs(second));
  }

 private:
  // The distance of a centroid with this exact score, rounded up.
  LLOYD_HOST_DEVICE float distance(float score) const {
    return kBoundSlack * std::sqrt(std::fmax(score + offset_, 0.0F));
  }

  float rounded_ = 0;
  float residual_ = 0;
  CentroidNorms centroids_;
  float accumulation_ = 0;  // relative to the magnitude of partial sums
  float nu0_ = 0;           // bounds |e - e'| where values underflow
  float offset_ = 0;        // what scores lack of squared distances
  float packing_ = 0;       // kPackingError if an index is packed into the scores
};

/// True if the scores prove that the centroid of score `best`, which must not be far, is the
/// nearest. `second`: no other centroid has a lower score. False if a value is NaN.
LLOYD_HOST_DEVICE inline bool proves_label(float best, float second, const ScreenError& error) {
  return second - best > error.above(best) + error.below(second) + error.packing(best, second);
}

/// Like proves_label(), but with the single bound above_and_below(): one square root instead of
/// three. The bound is lower if the scores are close and higher if they are far apart (BOUND.md,
/// step 9).
LLOYD_HOST_DEVICE inline bool proves_label_by_one_bound(float best, float second,
                                                        const ScreenError& error) {
  return second - best > 2 * error.above_and_below(best, second) + error.packing(best, second);
}

/// Upper limit of the computed score (before packing) of any centroid that may be nearest, if the
/// centroid of score `best` is not far. Infinite or NaN: all may be.
LLOYD_HOST_DEVICE inline float candidate_limit(float best, const ScreenError& error) {
  const float nearest = best + error.above(best) + error.packing(best, 0);
  return nearest + error.below(nearest);
}

/// True if the scores tell to which centroid `best` belongs, in spite of packing (step 4).
LLOYD_HOST_DEVICE inline bool is_distinct(float best, float second, const ScreenError& error) {
  return second - best > error.packing(best, second);
}

}  // namespace lloyd_cuda_fast
