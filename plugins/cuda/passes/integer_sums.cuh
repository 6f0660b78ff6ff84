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

/// Adds a value of feature j to its limbs in shared memory, which are `limb_stride` words apart and
/// updated by the whole block. Each is a 64-bit sum that can overflow after SumScale::flush_rows
/// values.
template <class T>
__device__ inline void add_to_limbs(unsigned long long* sum, std::int64_t limb_stride, T x,
                                    const SumScale& scale, std::int64_t j, std::int64_t features) {
  double rest = static_cast<double>(x);
  for (int limb = scale.limbs - 1; limb > 0; --limb) {
    const long long value = __double2ll_rz(rest * scale.scales[limb * features + j]);
    rest =
        __dsub_rn(rest, __dmul_rn(static_cast<double>(value), scale.quanta[limb * features + j]));
    atomicAdd(sum + limb * limb_stride, static_cast<unsigned long long>(value));
  }
  atomicAdd(sum, static_cast<unsigned long long>(narrow_value(rest, scale.scales[j])));
}

/// The weighted value of a limb's 64-bit sum.
__device__ inline DeviceInt128 limb_value(unsigned long long sum, int limb, const SumScale& scale) {
  return shift_left(sign_extend(static_cast<long long>(sum)), limb * scale.limb_bits);
}

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
