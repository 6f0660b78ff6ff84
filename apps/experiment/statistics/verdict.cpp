#include "experiment/statistics/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "experiment/statistics/statistics.hpp"

namespace lloyd::experiment {
namespace {

bool all_above_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value) && value > 0; });
}

TimeRatio unclear(const MedianInterval& ratio, std::string reason, std::size_t timings) {
  return {ratio, Verdict::unclear, std::move(reason), timings};
}

TimeRatio no_ratio(std::string reason) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return unclear({kNaN, kNaN, kNaN}, std::move(reason), 0);
}

TimeRatio too_few(const MedianInterval& ratio, std::size_t timings) {
  return unclear(ratio, fmt::format("fewer than {} timings", kMinTimingsForVerdict), timings);
}

bool is_same(const MedianInterval& ratio) {
  return verdict_of(ratio) == Verdict::same;
}

double disturbance(const std::vector<double>& times) {
  return median(times) / *std::min_element(times.begin(), times.end()) - 1;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::same:
      return "same";
    case Verdict::unclear:
      break;
  }
  return "unclear";
}

Verdict verdict_of(const MedianInterval& ratio) {
  constexpr double kHighest = 1 + kSameMargin;
  constexpr double kLowest = 1 / kHighest;
  if (ratio.low > kHighest) return Verdict::slower;
  if (ratio.high < kLowest) return Verdict::faster;
  return ratio.low >= kLowest && ratio.high <= kHighest ? Verdict::same : Verdict::unclear;
}

TimeRatio compare_rounds(const Timings& older, const Timings& newer) {
  const std::vector<double> ratios = paired_ratios(newer, older);
  if (ratios.empty()) return no_ratio("no round has both");
  if (!all_above_zero(ratios)) return no_ratio("too fast to compare");
  const MedianInterval ratio = ratio_interval(ratios);
  if (ratios.size() < kMinTimingsForVerdict) return too_few(ratio, ratios.size());
  const Verdict verdict = verdict_of(ratio);
  return {ratio, verdict, verdict == Verdict::unclear ? "wide interval" : "", ratios.size()};
}

TimeRatio compare_runs(const Timings& older, const Timings& newer) {
  const std::vector<double> before = values_of(older);
  const std::vector<double> after = values_of(newer);
  if (before.empty() || after.empty()) return no_ratio("no times");
  if (!all_above_zero(before) || !all_above_zero(after)) return no_ratio("too fast to compare");
  const MedianInterval ratio = median_ratio_interval(after, before);
  const std::size_t timings = std::min(before.size(), after.size());
  if (timings < kMinTimingsForVerdict) return too_few(ratio, timings);
  if (is_same(ratio)) return {ratio, Verdict::same, "", timings};
  if (ratio.low <= 1 && ratio.high >= 1) return unclear(ratio, "wide interval", timings);
  const double disturbed = std::max(disturbance(before), disturbance(after));
  if (disturbed > kDisturbed) {
    return unclear(ratio, fmt::format("noisy: median {:.0f}% above the fastest", 100 * disturbed),
                   timings);
  }
  const double fastest = *std::min_element(after.begin(), after.end()) /
                         *std::min_element(before.begin(), before.end());
  if (ratio.low > 1 && fastest > 1 + kRunMargin) return {ratio, Verdict::slower, "", timings};
  if (ratio.high < 1 && fastest < 1 / (1 + kRunMargin)) {
    return {ratio, Verdict::faster, "", timings};
  }
  return unclear(ratio, "the fastest times agree", timings);
}

MedianInterval geometric_mean(const std::vector<MedianInterval>& ratios) {
  double sum = 0;
  double below = 0;
  double above = 0;
  for (const MedianInterval& ratio : ratios) {
    sum += std::log(ratio.median);
    below += std::pow(std::log(ratio.median / ratio.low), 2);
    above += std::pow(std::log(ratio.high / ratio.median), 2);
  }
  const auto n = static_cast<double>(ratios.size());
  return {std::exp(sum / n), std::exp((sum - std::sqrt(below)) / n),
          std::exp((sum + std::sqrt(above)) / n)};
}

}  // namespace lloyd::experiment
