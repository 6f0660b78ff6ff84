#include "experiment/summary/noise.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "experiment/statistics/bootstrap.hpp"
#include "experiment/statistics/statistics.hpp"
#include "text/numbers.hpp"

namespace lloyd::experiment {
namespace {

std::string round_spread_text(const Summary& summary) {
  const SummaryRow* worst = nullptr;
  std::int64_t noisy = 0;
  for (const SummaryRow& row : summary.rows) {
    if (!has_spread(row) || !(row.spread > kNoisySpread)) continue;
    ++noisy;
    if (worst == nullptr || row.spread > worst->spread) worst = &row;
  }
  if (worst == nullptr) return {};
  const std::string setting = setting_text(summary, *worst);
  std::string text = fmt::format("{}{}{} varies by {:.0f}% between rounds", worst->backend,
                                 setting.empty() ? "" : " with ", setting, 100 * worst->spread);
  if (noisy > 1) {
    text += fmt::format(", {} by more than {:.0f}%", format_count(noisy - 1, "other row"),
                        100 * kNoisySpread);
  }
  return text;
}

std::string drift_text(const Summary& summary) {
  std::map<std::string, std::vector<const SummaryRow*>> settings;
  for (const SummaryRow& row : summary.rows) settings[row.setting].push_back(&row);
  const SummaryRow* worst = nullptr;
  double most = kNoisyDrift;
  double drifted = 0;
  for (const auto& [setting, rows] : settings) {
    const double by = drift(rows);
    if (!(std::abs(by) > most)) continue;
    most = std::abs(by);
    drifted = by;
    worst = rows.front();
  }
  if (worst == nullptr) return {};
  const std::string setting = setting_text(summary, *worst);
  return fmt::format("{}{}the later rounds were {:.0f}% {} than the earlier", setting,
                     setting.empty() ? "" : ": ", 100 * most, drifted > 0 ? "slower" : "faster");
}

}  // namespace

double drift(const std::vector<const SummaryRow*>& rows) {
  std::int64_t last = -1;
  for (const SummaryRow* row : rows) {
    if (!row->timings.empty()) last = std::max(last, row->timings.rbegin()->first);
  }
  const std::int64_t rounds = last + 1;
  if (rounds < static_cast<std::int64_t>(kMinTimingsForInterval)) return 0;
  std::vector<double> earlier;
  std::vector<double> later;
  for (const SummaryRow* row : rows) {
    if (!(row->time_ms.median > 0)) continue;
    for (const auto& [round, ms] : row->timings) {
      (round < rounds / 2 ? earlier : later).push_back(ms / row->time_ms.median);
    }
  }
  if (earlier.empty() || later.empty()) return 0;
  return median(later) / median(earlier) - 1;
}

std::string noise_text(const Summary& summary) {
  std::string text;
  for (const std::string& part :
       {round_spread_text(summary), drift_text(summary), disturbances_text(summary.disturbances)}) {
    if (part.empty()) continue;
    text += text.empty() ? "noisy: " : "; ";
    text += part;
  }
  return text;
}

}  // namespace lloyd::experiment
