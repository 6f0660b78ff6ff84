// No speedup without quality: when two results may be compared in time, and what differs if not.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <lloyd/plugin/abi/types.hpp>

#include "experiment/statistics/bootstrap.hpp"

namespace lloyd::experiment {

/// What the comparison needs to know of one setting with one variant.
struct Quality {
  Accuracy accuracy = Accuracy::exact;  ///< stated
  std::int64_t samples = 0;
  double inertia_after_one = std::numeric_limits<double>::quiet_NaN();
  std::int64_t wrong_labels = 0;  ///< after one iteration
  double final_inertia = std::numeric_limits<double>::quiet_NaN();
};

/// Relative difference of the inertias after one iteration from the common start, for exact and
/// float32 backends.
inline constexpr double kToleranceAfterOne = 1e-6;
/// Relative difference of the final inertias. Lloyd's iteration is chaotic: tiny differences grow.
inline constexpr double kToleranceFinal = 0.02;

struct Comparison {
  /// Baseline's time over this one's, with its interval, where it may be said.
  std::optional<MedianInterval> speedup;
  std::string text;  ///< the speedup, with what must stand beside it; or what differs
};

/// What forbids a comparison of times; empty when nothing does.
std::string quality_difference(const Quality& result, const Quality& baseline);

/// Compares a result to the baseline's; `speedup` is said where quality allows it.
Comparison compare(const Quality& result, const Quality& baseline, const MedianInterval& speedup);

/// "2.31 (2.25 - 2.38)", or "2.31" where the interval is but a point.
std::string ratio_text(const MedianInterval& ratio);

}  // namespace lloyd::experiment
