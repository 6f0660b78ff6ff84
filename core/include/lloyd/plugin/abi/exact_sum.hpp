// ExactSum: a sum of float64 values that is exact, and so independent of the order of summation.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace lloyd {

/// Fixed-point accumulator over the whole range of float64: chunk i counts multiples of 2^(32 i -
/// 1074). value() does not depend on the order of the additions, nor on how they were split over
/// several accumulators. Plain data, zero-initialised; it may cross the plugin boundary. Source: R.
/// M. Neal, "Fast exact summation using small and large superaccumulators", arXiv:1505.05571, 2015.
struct ExactSum {
  /// 66 chunks cover 2^-1074 to 2^1024; two more hold the carries of long sums.
  static constexpr int kChunks = 68;
  /// Each addition changes a 64-bit chunk by less than 2^32. Carries are propagated after this many
  /// additions, well before a chunk overflows.
  static constexpr std::int64_t kAddsBeforeCarry = std::int64_t{1} << 29;

  std::int64_t chunks[kChunks] = {};  ///< from the lowest weight to the highest
  std::int64_t adds_since_carry = 0;  ///< additions since the last carry(), below kAddsBeforeCarry

  /// Adds a finite value. Always inlined: gcc otherwise emits a call per addition.
  [[gnu::always_inline]] void add(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto exponent = static_cast<int>((bits >> 52) & 0x7ff);
    std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
    int position = 0;  // exponent of the mantissa's lowest bit, plus 1074
    if (exponent > 0) {
      mantissa |= std::uint64_t{1} << 52;
      position = exponent - 1;
    }
    const int shift = position & 31;
    const std::uint64_t low = mantissa << shift;
    const std::uint64_t high = shift == 0 ? 0 : mantissa >> (64 - shift);
    std::int64_t* chunk = chunks + (position >> 5);
    const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
    chunk[0] += sign * static_cast<std::int64_t>(low & 0xffffffffu);
    chunk[1] += sign * static_cast<std::int64_t>(low >> 32);
    chunk[2] += sign * static_cast<std::int64_t>(high);
    if (++adds_since_carry >= kAddsBeforeCarry) carry();
  }

  /// Adds another sum.
  void add(const ExactSum& other) {
    ExactSum carried = other;
    carried.carry();
    for (int i = 0; i < kChunks; ++i) chunks[i] += carried.chunks[i];
    if (++adds_since_carry >= kAddsBeforeCarry) carry();
  }

  /// The sum, rounded once to float64: to nearest, ties to even.
  double value() const {
    ExactSum sum = *this;
    sum.carry();
    const bool negative = sum.chunks[kChunks - 1] < 0;
    if (negative) {
      for (auto& chunk : sum.chunks) chunk = -chunk;
      sum.adds_since_carry = 0;
      sum.carry();
    }
    int top = kChunks - 1;
    while (top > 0 && sum.chunks[top] == 0) --top;
    const int top_bit =
        32 * top + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(sum.chunks[top]))) -
        1;
    const int low_bit =
        top_bit > 52 ? top_bit - 52 : 0;  // lowest of the 53 bits that the result keeps
    std::uint64_t kept = 0;
    for (int bit = top_bit; bit >= low_bit; --bit) kept = 2 * kept + sum.bit(bit);
    if (low_bit > 0 && sum.bit(low_bit - 1) != 0) {
      bool round_up = (kept & 1) != 0;
      for (int bit = low_bit - 2; bit >= 0 && !round_up; --bit) round_up = sum.bit(bit) != 0;
      if (round_up) ++kept;
    }
    const double magnitude = std::ldexp(static_cast<double>(kept), low_bit - 1074);
    return negative ? -magnitude : magnitude;
  }

 private:
  std::uint64_t bit(int position) const {
    return (static_cast<std::uint64_t>(chunks[position >> 5]) >> (position & 31)) & 1;
  }

  // Propagates the carries: every chunk but the last is in [0, 2^32) afterwards.
  void carry() {
    for (int i = 0; i + 1 < kChunks; ++i) {
      const std::int64_t up = chunks[i] >> 32;
      chunks[i] -= up * (std::int64_t{1} << 32);
      chunks[i + 1] += up;
    }
    adds_since_carry = 0;
  }
};
static_assert(sizeof(ExactSum) == 552);

}  // namespace lloyd
