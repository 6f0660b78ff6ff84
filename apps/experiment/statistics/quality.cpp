#include "experiment/statistics/quality.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/names.hpp"
#include "text/numbers.hpp"

namespace lloyd::experiment {
namespace {

// (a - b) divided by the larger magnitude; 0 for equal values, two zeros included.
double relative_difference(double a, double b) {
  return a == b ? 0 : (a - b) / std::max(std::abs(a), std::abs(b));
}

bool within(double difference, double tolerance) {
  return std::abs(difference) <= tolerance;  // false for a NaN
}

// True if the inertia after one iteration must agree with that of other such backends.
bool is_precise(const Quality& quality) {
  return quality.accuracy <= Accuracy::float32;
}

std::string wrong_share(const Quality& quality) {
  return fmt::format(
      "{}% labels wrong",
      format_number(100.0 * static_cast<double>(quality.wrong_labels) /
                    static_cast<double>(quality.checked_labels.value_or(quality.samples))));
}

}  // namespace

std::string quality_difference(const Quality& result, const Quality& baseline) {
  if (result.accuracy > baseline.accuracy) {
    return fmt::format("less accurate: {}", apps::to_string(result.accuracy));
  }
  for (const Quality* quality : {&result, &baseline}) {
    if (quality->accuracy != Accuracy::exact || quality->wrong_labels == 0) continue;
    return fmt::format("{}{} wrong labels, but stated exact",
                       quality == &result ? "" : "baseline: ", quality->wrong_labels);
  }
  if (is_precise(result) && is_precise(baseline)) {
    const double after_one =
        relative_difference(result.inertia_after_one, baseline.inertia_after_one);
    if (!within(after_one, kToleranceAfterOne)) {
      return fmt::format("inertia {:+.1e} after 1 iteration", after_one);
    }
  }
  const double final = relative_difference(result.final_inertia, baseline.final_inertia);
  if (!within(final, kToleranceFinal)) return fmt::format("final inertia {:+.1f}%", 100 * final);
  return {};
}

std::string canonical_difference(const Quality& result, const Quality& baseline) {
  if (!result.canonical || !baseline.canonical) return {};
  if (result.iterations != baseline.iterations && result.iterations > 0 &&
      baseline.iterations > 0) {
    return fmt::format("{} instead of {}", format_count(result.iterations, "iteration"),
                       baseline.iterations);
  }
  const double final = relative_difference(result.final_inertia, baseline.final_inertia);
  if (within(final, kToleranceCanonical)) return {};
  return fmt::format("final inertia {:+.1e}", final);
}

std::string ratio_text(const MedianInterval& ratio) {
  std::string text = format_number(ratio.median);
  if (ratio.low == ratio.high) return text;
  return fmt::format("{} ({} - {})", text, format_number(ratio.low), format_number(ratio.high));
}

Comparison compare(const Quality& result, const Quality& baseline, const MedianInterval& speedup) {
  const std::string differs = quality_difference(result, baseline);
  if (!differs.empty()) return {{}, differs, {}, result.accuracy > baseline.accuracy};
  const std::string impossible = canonical_difference(result, baseline);
  if (!impossible.empty()) return {{}, impossible + ", but both stated canonical"};
  if (!std::isfinite(speedup.median)) return {{}, "too fast to compare"};
  std::string text = ratio_text(speedup);
  std::string over;
  if (result.accuracy < baseline.accuracy) {
    over = fmt::format(" over {}", apps::to_string(baseline.accuracy));
    text += over;
    if (!is_precise(baseline)) text += fmt::format(", {}", wrong_share(baseline));
  } else if (!is_precise(result)) {
    text += fmt::format(", {} ({})", wrong_share(result), wrong_share(baseline));
  }
  return {speedup, text, over};
}

}  // namespace lloyd::experiment
