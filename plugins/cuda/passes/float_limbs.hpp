// When the float32 values of a data set can be summed by FloatLimbs (integer_sums.cuh). No CUDA.
#pragma once

#include <algorithm>

#include <lloyd/plugin/sdk/cluster_sums.hpp>

namespace lloyd_cuda {

/// Bits between the limbs of FloatLimbs.
inline constexpr int kFloatLimbBits = 23;
/// Maximum number of limbs of FloatLimbs.
inline constexpr int kMaxFloatLimbs = 4;

/// The limbs that FloatLimbs needs for the float32 values of a data set. 0: it does not suit them.
inline int float_limbs(const lloyd::SumPlan& plan) {
  constexpr int kLowestExponent = -149;
  constexpr int kHighestExponent = 103;
  const int bits = *std::max_element(plan.value_bits.begin(), plan.value_bits.end());
  const int limbs = (bits + kFloatLimbBits) / kFloatLimbBits;  // (bits + 1) / 23, rounded up
  if (limbs > kMaxFloatLimbs) return 0;
  const auto [lowest, highest] =
      std::minmax_element(plan.quantum_exponents.begin(), plan.quantum_exponents.end());
  const bool in_range =
      *lowest >= kLowestExponent && *highest + (limbs - 1) * kFloatLimbBits <= kHighestExponent;
  return in_range ? limbs : 0;
}

}  // namespace lloyd_cuda
