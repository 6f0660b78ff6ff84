#include "fit/choice/criteria_chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <lloyd/internal/status_text.hpp>

namespace lloyd::apps {
namespace {

// Lengths in pixels.
constexpr double kPanelWidth = 300;
constexpr double kPanelHeight = 190;
constexpr double kPanelGap = 24;
constexpr double kTitleHeight = 44;
constexpr double kLeft = 52;    // room for the numbers beside a panel's axis
constexpr double kTop = 24;     // room for its heading
constexpr double kBottom = 30;  // room for the numbers below

std::string escape_xml(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

struct Interval {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
  // Position of a value, 0 to 1; the middle if all values are equal.
  double share(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

// The step of about four ticks in an interval: 1, 2 or 5 times a power of ten.
double tick_step(const Interval& range) {
  const double raw = (range.high - range.low) / 4;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::vector<double> ticks(const Interval& range) {
  if (!(range.high > range.low)) return {range.low};
  const double step = tick_step(range);
  std::vector<double> values;
  for (double at = std::ceil(range.low / step); at * step <= range.high; ++at) {
    values.push_back(at == 0 ? 0 : at * step);
  }
  return values;
}

class Panel {
 public:
  Panel(double x, double y, std::span<const CriteriaOfK> tried, std::vector<double> values)
      : x_(x), y_(y), tried_(tried), values_(std::move(values)) {
    for (std::size_t i = 0; i < tried_.size(); ++i) {
      across_.include(static_cast<double>(tried_[i].clusters));
      up_.include(values_[i]);
    }
  }

  std::string svg(const char* heading, std::optional<std::size_t> suggested) const {
    std::string text = fmt::format("<text class=\"h\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                                   x_ + kLeft, y_ + 14, heading);
    text += axes();
    if (suggested) {
      const double at = column(*suggested);
      text += fmt::format(
          "<line class=\"s\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n", at,
          y_ + kTop, y_ + kPanelHeight - kBottom);
    }
    return text + curve();
  }

 private:
  double column_of(double clusters) const {
    return x_ + kLeft + 8 + across_.share(clusters) * (kPanelWidth - kLeft - 16);
  }
  double column(std::size_t i) const { return column_of(static_cast<double>(tried_[i].clusters)); }
  double height_of(double value) const {
    return y_ + kTop + 6 + (1 - up_.share(value)) * (kPanelHeight - kTop - kBottom - 12);
  }

  std::string axes() const {
    const double bottom = y_ + kPanelHeight - kBottom;
    std::string text = fmt::format("<path class=\"a\" d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\"/>\n",
                                   x_ + kLeft, y_ + kTop, bottom, x_ + kPanelWidth);
    for (const double k : ticks(across_)) {
      if (k != std::floor(k)) continue;
      text += fmt::format(
          "<text class=\"n\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{:.0f}</text>\n",
          column_of(k), bottom + 15, k);
    }
    if (up_.is_empty()) return text;
    for (const double value : ticks(up_)) {
      text += fmt::format(
          "<path class=\"g\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/><text class=\"n\" "
          "text-anchor=\"end\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5:.6g}</text>\n",
          x_ + kLeft, height_of(value), x_ + kPanelWidth, x_ + kLeft - 5, height_of(value) + 4,
          value);
    }
    return text;
  }

  std::string curve() const {
    std::string path;
    std::string points;
    bool gap = true;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!std::isfinite(values_[i])) {
        gap = true;
        continue;
      }
      const double across = column(i);
      const double up = height_of(values_[i]);
      path += fmt::format("{}{:.1f} {:.1f}", gap ? 'M' : 'L', across, up);
      points += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"><title>k = {}: {:.6g}</title></circle>\n",
          across, up, tried_[i].clusters, values_[i]);
      gap = false;
    }
    return path.empty() ? path : fmt::format("<path class=\"c\" d=\"{}\"/>\n{}", path, points);
  }

  double x_, y_;
  std::span<const CriteriaOfK> tried_;
  std::vector<double> values_;
  Interval across_, up_;
};

}  // namespace

std::string criteria_svg(const std::string& title, std::span<const CriteriaOfK> tried,
                         const std::function<double(std::size_t i)>& inertia,
                         std::optional<std::size_t> suggested) {
  const double width = 2 * kPanelWidth + 3 * kPanelGap;
  const double height = kTitleHeight + 2 * kPanelHeight + 2 * kPanelGap;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\">\n"
      "<style>.h{{font-size:13px;font-weight:600}}.n{{font-size:11px;fill:#555}}"
      ".a{{fill:none;stroke:#888}}.g{{stroke:#ddd}}.c{{fill:none;stroke:#1f77b4;stroke-width:1.5}}"
      "circle{{fill:#1f77b4}}.s{{stroke:#d62728;stroke-dasharray:4 3}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text x=\"{2}\" y=\"26\" font-size=\"15\">{3}: criteria by number of clusters k{4}</text>\n",
      width, height, kPanelGap, escape_xml(title),
      suggested ? fmt::format(", suggested k = {}", tried[*suggested].clusters) : "");
  struct Measure {
    const char* heading;
    std::function<double(std::size_t)> value;
  };
  const Measure measures[] = {{"inertia (look for the bend)", inertia},
                              {"simplified silhouette (higher is better)",
                               [&](std::size_t i) { return tried[i].criteria.silhouette; }},
                              {"Calinski-Harabasz (higher is better)",
                               [&](std::size_t i) { return tried[i].criteria.calinski_harabasz; }},
                              {"Davies-Bouldin (lower is better)",
                               [&](std::size_t i) { return tried[i].criteria.davies_bouldin; }}};
  for (std::size_t m = 0; m < std::size(measures); ++m) {
    std::vector<double> values;
    for (std::size_t i = 0; i < tried.size(); ++i) values.push_back(measures[m].value(i));
    const std::size_t row = m / 2;
    const std::size_t column = m % 2;
    const Panel panel(kPanelGap + static_cast<double>(column) * (kPanelWidth + kPanelGap),
                      kTitleHeight + static_cast<double>(row) * (kPanelHeight + kPanelGap), tried,
                      std::move(values));
    svg += panel.svg(measures[m].heading, suggested);
  }
  return svg + "</svg>\n";
}

}  // namespace lloyd::apps
