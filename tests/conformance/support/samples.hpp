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

/// Pseudo-random numbers (SplitMix64), the same on every machine.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  /// Uniform in [0, 1).
  double uniform();
  /// Uniform integer in [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high);

 private:
  std::uint64_t state_;
};

/// Random integers in [-extent, extent].
Samples lattice(std::int64_t n, std::int64_t d, std::int64_t extent, std::uint64_t seed);
/// Clouds around centers in [-10, 10]^d; each sample is within `radius` of its center in every
/// feature. Sample i belongs to center i mod `centers`, so the first rows are good initial
/// centroids.
Samples blobs(std::int64_t n, std::int64_t d, std::int64_t centers, double radius,
              std::uint64_t seed);
/// A single cloud: clusters overlap, and a fit needs many iterations.
Samples cloud(std::int64_t n, std::int64_t d, std::uint64_t seed);

/// Values of both signs whose magnitudes are log-uniform from 1 / reach to reach.
Samples wide_range(std::int64_t n, std::int64_t d, double reach, std::uint64_t seed);

/// x * scale + offset for each value.
Samples transformed(Samples samples, double scale, double offset);
/// The samples rounded to `dtype`.
Samples rounded(Samples samples, DType dtype);
/// The first k rows as centroids, k x d.
std::vector<double> first_rows(const Samples& samples, std::int64_t k);
/// Row i of the result is row `rows[i]` of the samples.
Samples selected(const Samples& samples, const std::vector<std::int64_t>& rows);

/// Memory layout of samples.
struct Layout {
  std::int64_t gap = 0;     ///< values between rows, all NaN
  std::int64_t offset = 0;  ///< values between a 64-byte boundary and the first value
};

/// The samples as a data set. The allocation ends with the last value, so that overreads are
/// detected.
Dataset make_dataset(const Samples& samples, DType dtype, Layout layout = {});

}  // namespace lloyd::conformance
