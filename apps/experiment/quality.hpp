// No speedup without quality: when two results may be compared in time, and what differs if not.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <lloyd/plugin/types.hpp>

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
  std::optional<double> speedup;  ///< baseline's time over this one's, where it may be said
  std::string text;               ///< the speedup, with what must stand beside it; or what differs
};

/// Compares a result, with its time, to the baseline's.
Comparison compare(const Quality& result, double time, const Quality& baseline,
                   double baseline_time);

}  // namespace lloyd::experiment
