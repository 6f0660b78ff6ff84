// Data sets of the conformance cases.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <lloyd/dataset.hpp>

#include "reference/reference.hpp"

namespace lloyd::conformance {

using reference::Samples;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Pseudo-random numbers, the same everywhere (SplitMix64).
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  /// Uniform in [0, 1).
  double uniform();
  /// Uniform in [low, high], both included.
  std::int64_t integer(std::int64_t low, std::int64_t high);

 private:
  std::uint64_t state_;
};

/// Integers in [-extent, extent].
Samples lattice(std::int64_t n, std::int64_t d, std::int64_t extent, std::uint64_t seed);
/// Round clouds about centers in [-10, 10]^d, each sample within `radius` of its center in every
/// feature. Sample i belongs to center i modulo `centers`, so that first rows make a fair start.
Samples blobs(std::int64_t n, std::int64_t d, std::int64_t centers, double radius,
              std::uint64_t seed);
/// One cloud: clusters overlap, and Lloyd's iteration takes many steps.
Samples cloud(std::int64_t n, std::int64_t d, std::uint64_t seed);

/// Values of either sign whose magnitudes are spread evenly over 1 / reach to reach in powers of
/// two.
Samples wide_range(std::int64_t n, std::int64_t d, double reach, std::uint64_t seed);

/// x * scale + offset for each value.
Samples transformed(Samples samples, double scale, double offset);
/// Values as `dtype` holds them.
Samples rounded(Samples samples, DType dtype);
/// The first k rows as centroids, k x d.
std::vector<double> first_rows(const Samples& samples, std::int64_t k);
/// Row i of the result is row `rows[i]` of the samples.
Samples selected(const Samples& samples, const std::vector<std::int64_t>& rows);

/// How samples lie in memory.
struct Layout {
  std::int64_t gap = 0;     ///< values between rows, all NaN
  std::int64_t offset = 0;  ///< values between a 64-byte boundary and the first one
};

/// The samples as a data set. The memory ends with the last value.
Dataset make_dataset(const Samples& samples, DType dtype, Layout layout = {});

}  // namespace lloyd::conformance
