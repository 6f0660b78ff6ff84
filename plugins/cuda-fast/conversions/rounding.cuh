// What the conversions to FP16 share.
#pragma once

namespace lloyd_cuda_fast {

/// Unit of biases: squared norms up to 2^30 fit into FP16. Three values keep up to 33 bits of one.
inline constexpr double kBiasUnit = 0x1p15;
/// Covers the roundings of y, of e, and of sums of their squares in float64.
inline constexpr double kMargin = 1 + 0x1p-30;

/// The sum over the warp, in all lanes.
__device__ inline double sum_of_warp(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

}  // namespace lloyd_cuda_fast
