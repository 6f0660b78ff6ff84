// Arithmetic of bounds on distances, in float32, each operation rounded to the safe side. BOUNDS.md
// derives the margins. For kernels, and for tests on the host.
#pragma once

#include <cfenv>
#include <cfloat>
#include <cmath>
#include <type_traits>

#include "../cuda/samples.hpp"  // LLOYD_CUDA_BOTH

namespace lloyd_cuda_elkan {

/// Below any float32 that matters and above everything that float64 loses to underflow.
inline constexpr float kSlack = FLT_MIN;
/// Covers the relative error of the definition, (d + 2) 2^-53 with d < 2^31, in a distance.
inline constexpr float kDistanceMargin = 0x1p-21f;
/// Covers that of two squared distances that are compared.
inline constexpr float kCompareMargin = 0x1p-20f;
/// Squared distances for which the square root is taken in float32.
inline constexpr double kMinFloat32Square = 0x1p-100;
inline constexpr double kMaxFloat32Square = 0x1p126;

// One operation, rounded down or up.
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
// The same bits on the host, where tests run: volatile values keep the operation between the two
// changes of the rounding mode.
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

/// At most the true distance, given the squared one as float64 computes it in any order of adding
/// up. Finite and >= 0, also for infinity, which bounds the distance to nobody.
LLOYD_CUDA_BOTH inline float lower_bound(double squared) {
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

/// At least the true distance; infinite where float32 does not reach.
LLOYD_CUDA_BOTH inline float upper_bound(double squared) {
  if (squared > kMinFloat32Square && squared < kMaxFloat32Square) {
    return multiply_up(root_up(round_up(squared)), 1 + kDistanceMargin);
  }
  const double root = multiply_up(root_up(squared), 1 + static_cast<double>(kDistanceMargin));
  return round_up(add_up(root, static_cast<double>(kSlack)));
}

/// What a lower bound has to exceed, so that its centroid's squared distance by the definition is
/// greater than that of a centroid within `upper`: it can neither be nearer nor tie.
LLOYD_CUDA_BOTH inline float exclusion_limit(float upper) {
  return add_up(multiply_up(upper, 1 + kCompareMargin), kSlack);
}

/// How far something has moved since a fit's bounds began, rounded to either side. The difference
/// of a later `up` and an earlier `down` is at least the way between the two moments.
struct Drift {
  float down;
  float up;
};

/// The total of a way, which is kept in float64 and rounded up whenever it grows.
LLOYD_CUDA_BOTH inline Drift round_outward(double total) {
  return {round_down(total), round_up(total)};
}

/// A lower bound of now, in the form that stays as it is while centroids move.
LLOYD_CUDA_BOTH inline float store_lower(float lower, Drift drift) {
  return add_down(lower, drift.down);
}
/// The lower bound of now from its stored form.
LLOYD_CUDA_BOTH inline float lower_now(float stored, Drift drift) {
  return add_down(stored, -drift.up);
}
/// An upper bound of now, in the form that stays as it is while its centroid moves.
LLOYD_CUDA_BOTH inline float store_upper(float upper, Drift drift) {
  return add_up(upper, -drift.down);
}
/// The upper bound of now from its stored form.
LLOYD_CUDA_BOTH inline float upper_now(float stored, Drift drift) {
  return add_up(stored, drift.up);
}

/// A lower bound of the distance to centroids that are at least `apart` from one within `upper`.
LLOYD_CUDA_BOTH inline float lower_across(float separation, float upper) {
  return add_down(separation, -upper);
}

/// Index of no centroid; greater than all.
inline constexpr int kNoCentroid = 0x7fffffff;

/// The nearest of some centroids and what is known of the others.
struct NearestTwo {
  double first = HUGE_VAL;     ///< squared distance of the nearest
  double second = HUGE_VAL;    ///< least of the others
  double in_group = HUGE_VAL;  ///< least of the others in the nearest one's group
  int label = kNoCentroid;     ///< the nearest; ties to the lowest index

  /// Takes in what is known of other centroids.
  LLOYD_CUDA_BOTH void merge(const NearestTwo& other) {
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

  /// Takes in what is known of other centroids of the same group.
  LLOYD_CUDA_BOTH void merge_in_group(const NearestTwo& other) {
    merge(other);
    in_group = second;
  }

  /// Takes in a centroid of the same group.
  LLOYD_CUDA_BOTH void add_in_group(double squared, int centroid) {
    merge_in_group({squared, HUGE_VAL, HUGE_VAL, centroid});
  }
};

}  // namespace lloyd_cuda_elkan
