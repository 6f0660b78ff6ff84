#include "guards/totals_row.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>

#include "guards/inspected_rows.hpp"

namespace lloyd::apps {
namespace {

// The place of the last decimal of the numbers, 1 for integers: 0.01 for 2.5 and 3.75. Zero if
// there are more than six decimals. float32 has about 7 digits.
class DecimalUnit {
 public:
  void add(double value) {
    constexpr double kRounding = 2e-7;
    while (decimals_ <= kMaxDecimals) {
      const double scaled = value * std::pow(10.0, decimals_);
      if (std::fabs(scaled - std::round(scaled)) <= kRounding * std::fabs(scaled)) return;
      ++decimals_;
    }
  }
  double unit() const { return decimals_ > kMaxDecimals ? 0 : std::pow(10.0, -decimals_); }

 private:
  static constexpr int kMaxDecimals = 6;
  int decimals_ = 0;
};

double unit_of(double value) {
  DecimalUnit unit;
  unit.add(value);
  return unit.unit();
}

// The unit of the inspected rows but the last of all.
double unit_of(const InspectedRows& rows, std::int64_t samples, std::int64_t feature) {
  DecimalUnit unit;
  for (std::int64_t i = 0; i < std::min(rows.rows(), samples - 1); ++i) {
    unit.add(rows.at(i, feature));
  }
  return unit.unit();
}

// True if `total` may be the sum of n - 1 numbers before they were rounded to `unit`, where the sum
// of the rounded ones is `sum`. Errors of rounding have a standard deviation of unit / sqrt(12).
bool is_rounded_sum(double total, double sum, double n, double unit) {
  constexpr double kMaxDifference = 0.01;  // of the total
  constexpr double kDeviations = 4;
  const double rounding = unit_of(total) / 2 + kDeviations * unit * std::sqrt(n / 12);
  return std::fabs(total - sum) <= std::min(rounding, kMaxDifference * std::fabs(total));
}

}  // namespace

std::vector<std::int64_t> find_totals(const Dataset& dataset) {
  constexpr double kTolerance = 1e-4;
  constexpr double kMaxDifference = 0.01;
  std::optional<InspectedRows> rows;
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
    const double difference = std::fabs(last[j] - others) / std::fabs(last[j]);
    if (!is_extreme || difference > kMaxDifference) continue;
    const auto feature = static_cast<std::int64_t>(j);
    if (difference > kTolerance && !rows) rows.emplace(dataset);
    if (difference <= kTolerance ||
        is_rounded_sum(last[j], others, n, unit_of(*rows, dataset.samples(), feature))) {
      totals.push_back(feature);
    }
  }
  const std::size_t needed = std::min<std::size_t>(features.size(), 2);
  if (totals.size() < needed || 2 * totals.size() < nonzero) totals.clear();
  return totals;
}

std::optional<std::int64_t> count_blank_lines_at_end(const std::filesystem::path& file) {
  constexpr std::streamoff kMaxBytes = 1 << 16;
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream.tellg();
  if (!stream || size <= 0) return std::nullopt;
  std::string end(static_cast<std::size_t>(std::min(size, kMaxBytes)), '\0');
  stream.seekg(size - std::ssize(end));
  stream.read(end.data(), std::ssize(end));
  const std::size_t last = end.find_last_not_of(" \t\r\n");
  if (!stream || last == std::string::npos) return std::nullopt;
  // The first line feed ends the line of text.
  const std::string_view blank = std::string_view(end).substr(last + 1);
  const auto feeds = std::count(blank.begin(), blank.end(), '\n');
  return std::max<std::int64_t>(feeds - (end.ends_with('\n') ? 1 : 0), 0);
}

bool names_total(std::string_view text) {
  constexpr std::array<std::string_view, 18> kNames = {"total",
                                                       "totals",
                                                       "grand total",
                                                       "sum",
                                                       "summe",
                                                       "gesamt",
                                                       "insgesamt",
                                                       "somme",
                                                       "totale",
                                                       "suma",
                                                       "total g\u00e9n\u00e9ral",
                                                       "total general",
                                                       "totaal",
                                                       "gesamtsumme",
                                                       "total geral",
                                                       "summa",
                                                       "subtotal",
                                                       "soma"};
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (lower.ends_with(':')) lower.pop_back();
  return std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

}  // namespace lloyd::apps
