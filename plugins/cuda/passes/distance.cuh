// Distances in kernels: by the definition in float64, or in float32 for screening and inexact
// labels.
#pragma once

#include <cstdint>

#include "cuda/passes/samples.hpp"

namespace lloyd_cuda {

/// sum + difference^2. In float64 by the definition, with each operation rounded; in float32 with a
/// fused multiply-add.
__device__ inline double add_square(double sum, double difference) {
  return __dadd_rn(sum, __dmul_rn(difference, difference));
}
__device__ inline float add_square(float sum, float difference) {
  return fmaf(difference, difference, sum);
}

/// x - c. In float64, the compiler must not contract it into a fused multiply-add.
__device__ inline double subtract(double x, double c) {
  return __dsub_rn(x, c);
}
__device__ inline float subtract(float x, float c) {
  return x - c;
}

/// The squared distance of a row to a centroid of d float64 values, by the definition.
template <class T>
__device__ inline double exact_distance(const Samples<T>& samples, std::int64_t row,
                                        const double* centroid) {
  const T* x = samples.row(row);
  double sum = 0;
  for (std::int64_t j = 0; j < samples.features; ++j) {
    const double value = static_cast<double>(x[j * samples.feature_stride]);
    sum = add_square(sum, subtract(value, centroid[j]));
  }
  return sum;
}

}  // namespace lloyd_cuda
