// Arithmetic of bounds on distances in float32, with each operation rounded to the safe side.
// docs/design/cuda/elkan-bounds.md derives the margins. For kernels, and for tests on the host.
#pragma once

#include <cfenv>
#include <cfloat>
#include <cmath>
#include <type_traits>

#include "cuda/passes/samples.hpp"  // LLOYD_HOST_DEVICE

namespace lloyd_cuda_elkan {

/// Absolute margin: far below relevant float32 values, and above all errors of underflow in float64
/// (eta in the derivation).
inline constexpr float kSlack = FLT_MIN;
/// Relative margin of a distance: covers the rounding errors of the definition, (d + 2) 2^-53 with
/// d < 2^31.
inline constexpr float kDistanceMargin = 0x1p-21f;
/// Relative margin of comparisons: covers the rounding errors of two squared distances.
inline constexpr float kCompareMargin = 0x1p-20f;
/// Range of squared distances whose square root is taken in float32.
inline constexpr double kMinFloat32Square = 0x1p-100;
inline constexpr double kMaxFloat32Square = 0x1p126;

// Single operations, rounded down or up.
#ifdef __CUDA_ARCH__
__device__ inline float round_down(double x) {
  return __double2float_rd(x);
}
__device__ inline float round_up(double x) {
  return __double2float_ru(x);
}
__device__ inline double add_up(double a, double b) {
  return __dadd_ru(a, b);
}
__device__ inline double multiply_down(double a, double b) {
  return __dmul_rd(a, b);
}
__device__ inline double multiply_up(double a, double b) {
  return __dmul_ru(a, b);
}
__device__ inline double root_down(double a) {
  return __dsqrt_rd(a);
}
__device__ inline double root_up(double a) {
  return __dsqrt_ru(a);
}
__device__ inline float add_down(float a, float b) {
  return __fadd_rd(a, b);
}
__device__ inline float add_up(float a, float b) {
  return __fadd_ru(a, b);
}
__device__ inline float multiply_down(float a, float b) {
  return __fmul_rd(a, b);
}
__device__ inline float multiply_up(float a, float b) {
  return __fmul_ru(a, b);
}
__device__ inline float root_down(float a) {
  return __fsqrt_rd(a);
}
__device__ inline float root_up(float a) {
  return __fsqrt_ru(a);
}
#else
// The same operations with the same bits on the host, for tests. Volatile values keep the operation
// between the two changes of the rounding mode.
template <class Operation>
inline auto rounded(int mode, Operation operation) {
  const int former = std::fegetround();
  std::fesetround(mode);
  const volatile auto result = operation();
  std::fesetround(former);
  return static_cast<std::remove_cv_t<decltype(result)> >(result);
}
inline float round_to_float(int mode, double x) {
  const volatile double from = x;
  return rounded(mode, [&] { return static_cast<float>(from); });
}
inline float round_down(double x) {
  return round_to_float(FE_DOWNWARD, x);
}
inline float round_up(double x) {
  return round_to_float(FE_UPWARD, x);
}
template <class Real>
inline Real add(int mode, Real a, Real b) {
  const volatile Real x = a, y = b;
  return rounded(mode, [&] { return x + y; });
}
template <class Real>
inline Real multiply(int mode, Real a, Real b) {
  const volatile Real x = a, y = b;
  return rounded(mode, [&] { return x * y; });
}
template <class Real>
inline Real root(int mode, Real a) {
  const volatile Real x = a;
  return rounded(mode, [&] { return std::sqrt(static_cast<Real>(x)); });
}
template <class Real>
inline Real add_down(Real a, Real b) {
  return add(FE_DOWNWARD, a, b);
}
template <class Real>
inline Real add_up(Real a, Real b) {
  return add(FE_UPWARD, a, b);
}
template <class Real>
inline Real multiply_down(Real a, Real b) {
  return multiply(FE_DOWNWARD, a, b);
}
template <class Real>
inline Real multiply_up(Real a, Real b) {
  return multiply(FE_UPWARD, a, b);
}
template <class Real>
inline Real root_down(Real a) {
  return root(FE_DOWNWARD, a);
}
template <class Real>
inline Real root_up(Real a) {
  return root(FE_UPWARD, a);
}
#endif

/// Lower bound of the true distance, from the squared distance that float64 arithmetic gives in any
/// order of summation. Finite and >= 0; for infinity the largest float32.
LLOYD_HOST_DEVICE inline float lower_bound(double squared) {
  float lower;
  if (squared > kMinFloat32Square && squared < kMaxFloat32Square) {
    lower = multiply_down(root_down(round_down(squared)), 1 - kDistanceMargin);
  } else {
    const double root = root_down(fmin(squared, DBL_MAX));
    lower = round_down(multiply_down(root, 1 - static_cast<double>(kDistanceMargin)) -
                       static_cast<double>(kSlack));
  }
  return lower > 0 ? fminf(lower, FLT_MAX) : 0.0f;
}

/// Upper bound of the true distance; infinite beyond the range of float32.
LLOYD_HOST_DEVICE inline float upper_bound(double squared) {
  if (squared > kMinFloat32Square && squared < kMaxFloat32Square) {
    return multiply_up(root_up(round_up(squared)), 1 + kDistanceMargin);
  }
  const double root = multiply_up(root_up(squared), 1 + static_cast<double>(kDistanceMargin));
  return round_up(add_up(root, static_cast<double>(kSlack)));
}

/// If the lower bound of a centroid exceeds this limit, the centroid's squared distance by the
/// definition is greater than that of a centroid within `upper`: it is neither nearer nor tied.
LLOYD_HOST_DEVICE inline float exclusion_limit(float upper) {
  return add_up(multiply_up(upper, 1 + kCompareMargin), kSlack);
}

/// Accumulated drift of a centroid, a group or all centroids since the bounds of a fit began,
/// rounded down and up. A later `up` minus an earlier `down` is at least the distance moved in
/// between.
struct Drift {
  float down;
  float up;
};

/// Rounds an accumulated drift, a float64 sum that was rounded up at each addition, to both sides.
LLOYD_HOST_DEVICE inline Drift round_outward(double total) {
  return {round_down(total), round_up(total)};
}

/// Stores a lower bound in the form that needs no update while centroids move: plus the drift so
/// far.
LLOYD_HOST_DEVICE inline float store_lower(float lower, Drift drift) {
  return add_down(lower, drift.down);
}
/// The current lower bound from its stored form: minus the drift so far.
LLOYD_HOST_DEVICE inline float lower_now(float stored, Drift drift) {
  return add_down(stored, -drift.up);
}
/// Stores an upper bound in the form that needs no update while its centroid moves: minus the drift
/// so far.
LLOYD_HOST_DEVICE inline float store_upper(float upper, Drift drift) {
  return add_up(upper, -drift.down);
}
/// The current upper bound from its stored form: plus the drift so far.
LLOYD_HOST_DEVICE inline float upper_now(float stored, Drift drift) {
  return add_up(stored, drift.up);
}

/// Lower bound of a sample's distance to a centroid, from the triangle inequality: the centroid is
/// at least `separation` from the sample's own centroid, which is within `upper` of the sample.
LLOYD_HOST_DEVICE inline float lower_across(float separation, float upper) {
  return add_down(separation, -upper);
}

/// No centroid; greater than every index.
inline constexpr int kNoCentroid = 0x7fffffff;

/// The nearest centroid of a set, and the smallest distances to the others.
struct NearestTwo {
  double first = HUGE_VAL;     ///< squared distance of the nearest
  double second = HUGE_VAL;    ///< smallest squared distance of the others
  double in_group = HUGE_VAL;  ///< the same for the others in the group of the nearest
  int label = kNoCentroid;     ///< index of the nearest; ties to the lowest index

  /// Merges the result of a disjoint set of centroids in other groups.
  LLOYD_HOST_DEVICE void merge(const NearestTwo& other) {
    const bool nearer = other.first < first || (other.first == first && other.label < label);
    if (nearer) {
      second = fmin(first, other.second);
      first = other.first;
      in_group = other.in_group;
      label = other.label;
    } else {
      second = fmin(second, other.first);
    }
  }

  /// Merges the result of other centroids of the same group.
  LLOYD_HOST_DEVICE void merge_in_group(const NearestTwo& other) {
    merge(other);
    in_group = second;
  }

  /// Adds a centroid of the same group.
  LLOYD_HOST_DEVICE void add_in_group(double squared, int centroid) {
    merge_in_group({squared, HUGE_VAL, HUGE_VAL, centroid});
  }
};

}  // namespace lloyd_cuda_elkan
