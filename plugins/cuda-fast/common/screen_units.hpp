// ScreenUnits: the origin and scale with which values are rounded to FP16. No CUDA.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>

namespace lloyd_cuda_fast {

/// The map from a feature's values to the units of the screen: y_j = (x_j - origin_j) * scale.
struct ScreenUnits {
  std::vector<double> origin;  ///< d: about the means
  double scale = 1;            ///< a power of two
  /// What underflow may add to or take from a squared distance of the definition, in squared units
  /// of the screen (BOUND.md, step 5).
  double underflow = 0;
  /// Upper bound of |y| over all samples, up to roundings of float64.
  double largest_norm = 0;
};

/// Chooses the origin, and a power of two as the scale, such that |y_j| <= 2^14 and |y|^2 <= 2^30
/// for all samples: values and biases stay in the range of FP16 (BOUND.md, step 1).
inline ScreenUnits choose_units(const lloyd::DatasetView& dataset) {
  ScreenUnits units;
  double largest = 0;
  double squared_norm = 0;
  for (std::int64_t j = 0; j < dataset.features; ++j) {
    const lloyd::FeatureStatistics& feature = dataset.statistics[j];
    double center = std::clamp(feature.mean, feature.minimum, feature.maximum);
    // In float32, so that differences to float32 samples are mostly exact.
    if (std::abs(center) < 1e30) center = static_cast<double>(static_cast<float>(center));
    units.origin.push_back(center);
    const double radius = std::max(feature.maximum - center, center - feature.minimum);
    largest = std::max(largest, radius);
    squared_norm += radius * radius;
  }
  const int feature_bits = std::ilogb(static_cast<double>(2 * dataset.features - 1));
  const int value_bits = std::min(14, (30 - feature_bits) / 2);
  const int exponent =
      largest > 0 ? std::clamp(value_bits - 1 - std::ilogb(largest), -1000, 1000) : 0;
  units.scale = std::ldexp(1.0, exponent);
  units.largest_norm = std::sqrt(squared_norm) * units.scale;
  units.underflow = std::ldexp(static_cast<double>(dataset.features), 2 * exponent - 1074);
  return units;
}

}  // namespace lloyd_cuda_fast
