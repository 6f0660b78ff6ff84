// Finds features whose differences are lost by rounding: the numbers of a text file to float32, or
// 64-bit integers to float64.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/types.hpp>

namespace lloyd {

/// How rounding changed one feature in the first rows of a file, in the feature's units.
struct FeatureRounding {
  double error = 0;  ///< largest absolute change of a value
  /// Smallest value before rounding.
  double minimum = std::numeric_limits<double>::infinity();
  /// Largest value before rounding.
  double maximum = -std::numeric_limits<double>::infinity();
  DType dtype = DType::float32;  ///< the type that values were rounded to
  bool exact_in_float64 = true;  ///< false if float64 would change integers of the feature, too
  bool has_fractions = false;    ///< true if a value before rounding is not an integer
};

/// A feature that rounding distorts.
struct RoundingLoss {
  std::int64_t feature = 0;      ///< its number, from 0
  double error = 0;              ///< largest absolute change of a value, in the feature's units
  double deviation = 0;          ///< standard deviation of the rounded values
  DType dtype = DType::float32;  ///< the type that values were rounded to
  bool exact_in_float64 = true;  ///< see FeatureRounding
};

/// The features that rounding changes by more than a thousandth of their standard deviation, except
/// those whose values were all equal before rounding. `rounding` and `statistics` (of the rounded
/// values) have d entries each, or `rounding` is empty if nothing was rounded.
std::vector<RoundingLoss> rounding_losses(std::span<const FeatureRounding> rounding,
                                          std::span<const FeatureStatistics> statistics);

}  // namespace lloyd
