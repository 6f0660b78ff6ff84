// Exact sums in kernels: values as integers, 128-bit totals, and the mean.
#pragma once

#include <cstdint>

#include "cuda/passes/cluster_sums.hpp"

namespace lloyd_cuda {

/// A 128-bit integer, two's complement.
struct DeviceInt128 {
  unsigned long long low;
  unsigned long long high;
};

__device__ inline DeviceInt128 operator+(DeviceInt128 a, DeviceInt128 b) {
  const unsigned long long low = a.low + b.low;
  return {low, a.high + b.high + (low < a.low ? 1u : 0u)};
}

__device__ inline DeviceInt128 operator-(DeviceInt128 a) {
  const unsigned long long low = ~a.low + 1;
  return {low, ~a.high + (low == 0 ? 1u : 0u)};
}

/// Sign-extends a 64-bit integer.
__device__ inline DeviceInt128 sign_extend(long long value) {
  return {static_cast<unsigned long long>(value), value < 0 ? ~0ull : 0ull};
}

/// Converts a value to a multiple of its feature's quantum; it must fit into 64 bits (`narrow`).
template <class T>
__device__ inline long long narrow_value(T x, double scale) {
  return __double2ll_rz(static_cast<double>(x) * scale);
}

/// Converts a value, which must be a multiple of 2^exponent, to that multiple.
template <class T>
__device__ inline DeviceInt128 wide_value(T x, int exponent) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(static_cast<double>(x)));
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  unsigned long long mantissa = bits & ((1ull << 52) - 1);
  if (biased > 0) mantissa |= 1ull << 52;
  if (mantissa == 0) return {0, 0};
  const int shift = (biased > 0 ? biased - 1 : 0) - 1074 - exponent;
  DeviceInt128 value{0, 0};
  if (shift <= 0) {
    value.low = mantissa >> -shift;  // the bits shifted out are zeros
  } else if (shift < 64) {
    value.low = mantissa << shift;
    value.high = mantissa >> (64 - shift);
  } else {
    value.high = mantissa << (shift - 64);
  }
  return bits >> 63 != 0 ? -value : value;
}

/// Converts a value of feature j in either form.
template <class T>
__device__ inline DeviceInt128 exact_value(T x, const SumScale& scale, std::int64_t j) {
  return scale.narrow ? sign_extend(narrow_value(x, scale.scales[j]))
                      : wide_value(x, scale.exponents[j]);
}

/// Shifts left by less than 128 bits.
__device__ inline DeviceInt128 shift_left(DeviceInt128 value, int bits) {
  if (bits == 0) return value;
  if (bits >= 64) return {0, value.low << (bits - 64)};
  return {value.low << bits, value.high << bits | value.low >> (64 - bits)};
}

/// Adds a value (a multiple of 2^exponent) to its limbs of kSharedLimbBits in shared memory,
/// `limb_stride` words apart. Each limb is a signed 32-bit sum of at most kSharedLimbRows values.
/// Atomic 32-bit additions to shared memory are native; 64-bit ones are compare-and-swap loops.
template <class T>
__device__ inline void add_to_limbs(unsigned int* sum, std::int64_t limb_stride, T x,
                                    int exponent) {
  constexpr bool kFloat = sizeof(T) == sizeof(float);
  unsigned long long bits;
  if constexpr (kFloat) {
    bits = __float_as_uint(x);
  } else {
    bits = static_cast<unsigned long long>(__double_as_longlong(x));
  }
  constexpr int kMantissaBits = kFloat ? 23 : 52;
  const int biased = static_cast<int>(bits >> kMantissaBits) & (kFloat ? 0xff : 0x7ff);
  const bool negative = bits >> (kFloat ? 31 : 63) != 0;
  unsigned long long mantissa = bits & ((1ull << kMantissaBits) - 1);
  if (biased > 0) mantissa |= 1ull << kMantissaBits;
  int shift = (biased > 0 ? biased - 1 : 0) - (kFloat ? 149 : 1074) - exponent;
  if (mantissa == 0) return;
  if (shift < 0) {
    mantissa >>= -shift;  // the bits shifted out are zeros
    shift = 0;
  }
  sum += shift / kSharedLimbBits * limb_stride;
  shift %= kSharedLimbBits;
  unsigned long long rest = mantissa << shift;
  const auto add = [&](unsigned int value) {
    if (value != 0) atomicAdd(sum, negative ? 0u - value : value);
    sum += limb_stride;
  };
  constexpr int kLimbs = kFloat ? 3 : 4;
#pragma unroll
  for (int limb = 0; limb < kLimbs; ++limb) {
    add(static_cast<unsigned int>(rest) & ((1u << kSharedLimbBits) - 1));
    rest >>= kSharedLimbBits;
  }
  if constexpr (!kFloat) add(shift == 0 ? 0 : static_cast<unsigned int>(mantissa >> (64 - shift)));
}

/// The weighted value of the sum of a limb of kSharedLimbBits.
__device__ inline DeviceInt128 limb_value(long long sum, int limb) {
  return shift_left(sign_extend(sum), limb * kSharedLimbBits);
}

/// The sum of up to 256 float32 values of one feature. Float32 additions split each value exactly
/// into `Limbs` integers, which are summed.
///
/// Let 2^e be the quantum of the feature, L = Limbs, and for limb l = 0 .. L-1 (the highest first)
/// q_l = e + 23 (L-1-l) and M_l = 1.5 * 2^(23 + q_l). With r_0 = x and rounding to nearest:
///
///   t_l = fl(r_l + M_l),  s_l = fl(t_l - M_l),  r_{l+1} = fl(r_l - s_l)
///
/// float_limbs() guarantees |x| <= 2^(e + 23 L - 1), e >= -149 and q_0 <= 103. Then x is the sum of
/// n_l 2^q_l for the integers n_l = bits(t_l) - bits(M_l):
///
/// 1. |r_l| <= 2^(22 + q_l). For l = 0, 22 + q_0 = e + 23 L - 1. For l > 0, see step 4.
/// 2. So r_l + M_l is in [2^(23 + q_l), 2^(24 + q_l)]. Floats in this interval are finite since
///    q_0 <= 103 and normal since e >= -149. Consecutive ones differ by 2^q_l, and their bit
///    patterns by 1. Let n_l be r_l / 2^q_l, rounded to the nearest integer; |n_l| <= 2^22. Then
///    t_l = M_l + n_l 2^q_l, and n_l = bits(t_l) - bits(M_l).
/// 3. s_l = n_l 2^q_l is exact: it has at most 23 bits, and 2^q_l >= 2^-149.
/// 4. r_{l+1} = r_l - s_l is exact. If r_l is a multiple of 2^q_l, the difference is 0. Otherwise
///    let 2^b be the unit in the last place of r_l. Then b < q_l, so that r_l and s_l, and hence
///    the difference, are multiples of 2^b. Its magnitude is at most 2^(q_l - 1), because n_l is
///    rounded to nearest, and at most |r_l|, because n_l = 0 if |r_l| < 2^(q_l - 1). Multiples of
///    2^b up to |r_l| are floats. Step 1 follows for l + 1, since q_l - 1 = 22 + q_{l+1}.
/// 5. x and all s_l are multiples of 2^e, hence so is r_{L-1}. So s_{L-1} = r_{L-1}, since
///    q_{L-1} = e.
///
/// Additions do not flush subnormals to zero (no -ftz). A sum of 256 integers n_l is at most 2^30
/// in magnitude.
template <int Limbs>
class FloatLimbs {
 public:
  /// M_{L-1} of a feature with quantum 2^exponent.
  __device__ static float magic(int exponent) {
    return __uint_as_float(static_cast<unsigned int>(exponent + 23 + 127) << 23 | 1u << 22);
  }
  /// Adds a value of the feature with this magic().
  __device__ void add(float x, float magic) {
#pragma unroll
    for (int l = 0; l < Limbs; ++l) {
      const unsigned int bits = __float_as_uint(magic) + magic_bits_offset(l);
      const float limb_magic = __uint_as_float(bits);
      const float biased = __fadd_rn(x, limb_magic);
      sums_[l] += __float_as_uint(biased) - bits;
      if (l + 1 < Limbs) x = __fsub_rn(x, __fsub_rn(biased, limb_magic));
    }
  }
  /// The sum, as a multiple of the quantum.
  __device__ DeviceInt128 total() const {
    DeviceInt128 total{0, 0};
#pragma unroll
    for (int l = 0; l < Limbs; ++l) {
      total = total +
              shift_left(sign_extend(static_cast<int>(sums_[l])), (Limbs - 1 - l) * kFloatLimbBits);
    }
    return total;
  }

 private:
  // bits(M_l) - bits(M_{L-1})
  __device__ static constexpr unsigned int magic_bits_offset(int l) {
    return static_cast<unsigned int>((Limbs - 1 - l) * kFloatLimbBits) << 23;
  }

  unsigned int sums_[Limbs] = {};  // two's complement
};

/// Adds to a total in device or shared memory that other threads update concurrently. The result
/// does not depend on their order: the thread that causes a carry out of the low word adds it to
/// the high word.
__device__ inline void atomic_add(lloyd::SumWords* total, DeviceInt128 value) {
  const unsigned long long former =
      atomicAdd(reinterpret_cast<unsigned long long*>(&total->low), value.low);
  const unsigned long long high = value.high + (former + value.low < former ? 1u : 0u);
  if (high != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&total->high), high);
}

/// The integer rounded once to float64, to nearest, ties to even.
__device__ inline double to_double(DeviceInt128 value) {
  const bool negative = value.high >> 63 != 0;
  if (negative) value = -value;
  double result;
  if (value.high == 0) {
    result = __ull2double_rn(value.low);
  } else {
    const int shift = 64 - __clzll(static_cast<long long>(value.high));  // 1 to 64
    unsigned long long kept;
    bool sticky;
    if (shift == 64) {
      kept = value.high;
      sticky = value.low != 0;
    } else {
      kept = value.high << (64 - shift) | value.low >> shift;
      sticky = value.low << (64 - shift) != 0;
    }
    // The last of the 64 bits is a sticky bit: set if any lower bit is. So they are rounded
    // correctly to 53 bits.
    result = ldexp(__ull2double_rn(kept | (sticky ? 1u : 0u)), shift);
  }
  return negative ? -result : result;
}

}  // namespace lloyd_cuda
