// Counter-based random numbers: the same on every machine, in any order, from any thread.
#pragma once

#include <array>
#include <cstdint>

namespace lloyd {

/// Philox4x32-10: four 32-bit numbers from a counter and a key. Source: J. K. Salmon et al.,
/// "Parallel random numbers: as easy as 1, 2, 3", 2011.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// A stream of numbers: element `index` of stream `stream` of `seed` can be had directly.
class RandomStream {
 public:
  /// Streams of one seed are independent of each other.
  RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  /// 64 random bits.
  std::uint64_t bits(std::uint64_t index) const;
  /// Uniform integer in [0, bound), bound >= 1. Lemire's multiplication without rejection: the bias
  /// is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound, std::uint64_t index) const;
  /// Uniform in (0, 1): a multiple of 2^-52 plus 2^-53, so that neither end is reached by rounding.
  double uniform(std::uint64_t index) const;
  /// Standard normal, by the inverse of the distribution function: M. J. Wichura, "Algorithm AS
  /// 241", 1988. Uses no function of the C library whose rounding differs between machines.
  double normal(std::uint64_t index) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

/// Inverse of the standard normal distribution function for 0 < p < 1; relative error about 1e-15.
double inverse_normal(double p);

}  // namespace lloyd
