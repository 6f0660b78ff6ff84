// integer_rounding: how float64 rounds the 64-bit integers of a file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <lloyd/plugin/sdk/float_environment.hpp>
#include <lloyd/rounding.hpp>

namespace lloyd {

/// Number of rows to inspect of a table with `features` columns: the first ones.
inline std::int64_t rounding_rows(std::int64_t rows, std::int64_t features) {
  constexpr std::int64_t kMaxRows = 1000;
  constexpr std::int64_t kMaxValues = std::int64_t{1} << 17;
  return std::min(rows, std::clamp(kMaxValues / features, std::int64_t{2}, kMaxRows));
}

/// Compares 64-bit integers, row-major, with their float64 values. Returns one entry per feature,
/// or none if all are exact.
template <class Integer>
std::vector<FeatureRounding> integer_rounding(const std::vector<Integer>& values,
                                              std::int64_t features) {
  static_assert(std::numeric_limits<Integer>::is_integer && sizeof(Integer) == 8);
  const FloatEnvironment environment;
  constexpr double kHalf = 0x1p32;
  const auto d = static_cast<std::size_t>(features);
  std::vector<FeatureRounding> rounding(d);
  bool is_exact = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    FeatureRounding& feature = rounding[i % d];
    const auto rounded = static_cast<double>(values[i]);
    // The upper half is at most 2^32 + 1024 from the rounded value, so all differences are exact.
    const double upper = static_cast<double>(values[i] >> 32) * kHalf;
    const auto lower = static_cast<double>(values[i] & 0xffffffff);
    feature.dtype = DType::float64;
    feature.error = std::max(feature.error, std::fabs((rounded - upper) - lower));
    feature.minimum = std::min(feature.minimum, rounded);
    feature.maximum = std::max(feature.maximum, rounded);
    feature.exact_in_float64 = feature.error == 0;
    is_exact = is_exact && feature.exact_in_float64;
    if (values[i] != values[i % d] && feature.minimum == feature.maximum) {
      // Distinct integers with the same value.
      feature.maximum = std::nextafter(feature.maximum, std::numeric_limits<double>::infinity());
    }
  }
  return is_exact ? std::vector<FeatureRounding>() : rounding;
}

}  // namespace lloyd
