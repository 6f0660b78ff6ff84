#include "guards/totals_row.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

namespace lloyd::apps {

std::vector<std::int64_t> find_totals(const Dataset& dataset) {
  constexpr double kTolerance = 1e-4;
  const std::vector<FeatureStatistics>& features = dataset.statistics();
  const std::vector<double> last = dataset.sample(dataset.samples() - 1);
  const auto n = static_cast<double>(dataset.samples());
  std::vector<std::int64_t> totals;
  std::size_t nonzero = 0;
  for (std::size_t j = 0; j < features.size(); ++j) {
    if (last[j] == 0) continue;
    ++nonzero;
    const double others = n * features[j].mean - last[j];
    const double extreme = last[j] > 0 ? features[j].maximum : features[j].minimum;
    const bool is_extreme =
        last[j] == extreme &&
        std::max(-features[j].minimum, features[j].maximum) <= std::fabs(last[j]);
    if (is_extreme && std::fabs(last[j] - others) <= kTolerance * std::fabs(last[j])) {
      totals.push_back(static_cast<std::int64_t>(j));
    }
  }
  const std::size_t needed = std::min<std::size_t>(features.size(), 2);
  if (totals.size() < needed || 2 * totals.size() < nonzero) totals.clear();
  return totals;
}

bool names_total(std::string_view text) {
  constexpr std::array<std::string_view, 10> kNames = {"total",  "totals", "grand total", "sum",
                                                       "summe",  "gesamt", "insgesamt",   "somme",
                                                       "totale", "suma"};
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (lower.ends_with(':')) lower.pop_back();
  return std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

}  // namespace lloyd::apps
