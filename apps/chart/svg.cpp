#include "chart/svg.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <lloyd/internal/status_text.hpp>

namespace lloyd::apps {
namespace {

// The step of about `count` ticks: 1, 2 or 5 times a power of ten.
double tick_step(double low, double high, int count) {
  const double raw = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

// The first multiples of a step in a range, six at most.
std::vector<double> multiples(double step, double low, double high) {
  constexpr int kMaxTicks = 6;
  const double first = std::ceil(low / step);
  std::vector<double> values;
  // Beyond 2^53 steps from 0, the next step may be the same number.
  for (int i = 0; i < kMaxTicks && (first + i) * step <= high; ++i) {
    const double value = first + i == 0 ? 0 : (first + i) * step;  // not -0
    if (values.empty() || value > values.back()) values.push_back(value);
  }
  return values;
}

}  // namespace

std::string escape_xml(std::string_view text) {
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

void AxisRange::include(double value) {
  if (!std::isfinite(value)) return;
  const bool first = is_empty();
  low_ = first ? value : std::min(low_, value);
  high_ = first ? value : std::max(high_, value);
}

void AxisRange::widen_single_value() {
  if (is_empty() || low_ < high_) return;
  const double value = low_;
  const double pad = value == 0 ? 1 : std::abs(value) / 10;
  include(value - pad);
  include(value + pad);
}

double AxisRange::share(double value) const {
  return high_ > low_ ? (value - low_) / (high_ - low_) : 0.5;
}

std::vector<double> AxisRange::ticks() const {
  if (is_empty()) return {};
  if (low_ == high_) return {low_};
  for (const int count : {4, 8}) {  // a range of less than two steps may have one multiple of them
    std::vector<double> values = multiples(tick_step(low_, high_, count), low_, high_);
    if (values.size() > 1) return values;
  }
  return {low_, high_};
}

std::string begin_svg(double width, double height, std::string_view style) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\">\n"
      "<style>.h{{font-size:13px;font-weight:600}}.n{{font-size:11px;fill:#555}}"
      ".a{{fill:none;stroke:#888}}.g{{stroke:#ddd}}{2}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height, style);
}

std::string end_svg() {
  return "</svg>\n";
}

std::string tick_below(double x, double bottom, double value) {
  return fmt::format(
      "<text class=\"n\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{:.12g}</text>\n", x,
      bottom + 15, value);
}

std::string tick_beside(double y, double left, double right, double value) {
  return fmt::format(
      "<path class=\"g\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/><text class=\"n\" text-anchor=\"end\" "
      "x=\"{3:.1f}\" y=\"{4:.1f}\">{5:.12g}</text>\n",
      left, y, right, left - 5, y + 4, value);
}

std::string axis_lines(double left, double top, double right, double bottom) {
  return fmt::format("<path class=\"a\" d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\"/>\n", left, top,
                     bottom, right);
}

}  // namespace lloyd::apps
