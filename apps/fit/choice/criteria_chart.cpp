#include "fit/choice/criteria_chart.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/internal/shown.hpp>

#include "chart/svg.hpp"

namespace lloyd::apps {
namespace {

// Lengths in pixels.
constexpr double kPanelWidth = 300;
constexpr double kPanelHeight = 190;
constexpr double kPanelGap = 24;
constexpr double kTitleHeight = 60;
constexpr double kLeft = 52;    // room for the numbers beside a panel's axis
constexpr double kTop = 24;     // room for its heading
constexpr double kBottom = 30;  // room for the numbers below
constexpr std::size_t kMaxTitleBytes = 60;

class Panel {
 public:
  Panel(double x, double y, std::span<const CriteriaOfK> tried, std::vector<double> values)
      : x_(x), y_(y), tried_(tried), values_(std::move(values)) {
    for (std::size_t i = 0; i < tried_.size(); ++i) {
      across_.include(static_cast<double>(tried_[i].clusters));
      up_.include(values_[i]);
    }
    up_.widen_single_value();
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
    const double left = x_ + kLeft;
    const double right = x_ + kPanelWidth;
    const double bottom = y_ + kPanelHeight - kBottom;
    std::string text = axis_lines(left, y_ + kTop, right, bottom);
    for (const double k : across_.ticks()) {
      if (k == std::floor(k)) text += tick_below(column_of(k), bottom, k);
    }
    for (const double value : up_.ticks()) {
      text += tick_beside(height_of(value), left, right, value);
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
  AxisRange across_, up_;
};

}  // namespace

std::string criteria_svg(const std::string& title, std::span<const CriteriaOfK> tried,
                         const std::function<double(std::size_t i)>& inertia,
                         std::optional<std::size_t> suggested) {
  const double width = 2 * kPanelWidth + 3 * kPanelGap;
  const double height = kTitleHeight + 2 * kPanelHeight + 2 * kPanelGap;
  const std::string style = fmt::format(
      ".c{{fill:none;stroke:{0};stroke-width:1.5}}circle{{fill:{0}}}"
      ".s{{stroke:{1};stroke-dasharray:4 3}}",
      kSeriesColours[0], kSeriesColours[1]);
  std::string svg = begin_svg(width, height, style);
  svg += fmt::format(
      "<text x=\"{0}\" y=\"22\" font-size=\"15\">{1}</text>\n"
      "<text x=\"{0}\" y=\"42\" font-size=\"13\">criteria by number of clusters k{2}</text>\n",
      kPanelGap, escape_xml(shown(title, kMaxTitleBytes)),
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
  return svg + end_svg();
}

}  // namespace lloyd::apps
