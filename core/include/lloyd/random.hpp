// Counter-based random numbers: the same on every machine, in any order and on any thread.
#pragma once

#include <array>
#include <cstdint>

namespace lloyd {

/// Philox4x32-10: four 32-bit random numbers from a counter and a key. Source: J. K. Salmon et al.,
/// "Parallel random numbers: as easy as 1, 2, 3", SC'11, 2011.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// A stream of random numbers with random access: every function computes element `index` directly.
class RandomStream {
 public:
  /// Stream number `stream` of `seed`. Streams are independent of each other.
  RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  /// 64 random bits.
  std::uint64_t bits(std::uint64_t index) const;
  /// Uniform integer in [0, bound), bound >= 1, by Lemire's multiplication, without rejection; the
  /// bias is below bound / 2^64. Source: D. Lemire, "Fast random integer generation in an
  /// interval", 2019.
  std::uint64_t below(std::uint64_t bound, std::uint64_t index) const;
  /// Uniform in the open interval (0, 1): (m + 1/2) * 2^-52 for a 52-bit integer m.
  double uniform(std::uint64_t index) const;
  /// Standard normal, by inversion: inverse_normal() of a uniform number. Uses no function of the C
  /// library whose rounding differs between machines.
  double normal(std::uint64_t index) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

/// Inverse of the standard normal distribution function for 0 < p < 1; relative error about 1e-15.
/// Source: M. J. Wichura, "Algorithm AS 241: The percentage points of the normal distribution",
/// 1988.
double inverse_normal(double p);

}  // namespace lloyd
