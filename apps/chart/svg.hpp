// Parts of the charts that the program draws as SVG.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace lloyd::apps {

/// Colours of series on a white background, as in the report (--series-1 to --series-7 in
/// apps/report/page/style/colours.css): the palette of M. Okabe and K. Ito (2008), which
/// colour-blind readers can distinguish, darkened to a contrast of 3:1.
inline constexpr std::array<const char*, 7> kSeriesColours = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b28d36", "#2494f0", "#6b5b00"};
/// The colour of text.
inline constexpr const char* kInk = "#1b1c1e";

/// Makes any text the content of an element: on one line, printable, with entities.
std::string escape_xml(std::string_view text);

/// Values that an axis shows, from `low` to `high`; empty until the first value is included.
class AxisRange {
 public:
  /// Extends the range; a value that is not finite is ignored.
  void include(double value);
  /// Extends the range on both sides if it is a single value.
  void widen_single_value();
  bool is_empty() const { return low_ > high_; }
  double low() const { return low_; }
  double high() const { return high_; }
  /// Position of a value, 0 to 1 within the range; 0.5 if the range is a single value.
  double share(double value) const;
  /// The values to label: about five multiples of 1, 2 or 5 times a power of ten, and at least two
  /// unless the range is a single value.
  std::vector<double> ticks() const;

 private:
  double low_ = 1;
  double high_ = -1;
};

/// The beginning of a document: size in pixels, fonts, white background, and the classes h
/// (heading), n (number on an axis), a (axis) and g (grid line). `style`: further rules.
std::string begin_svg(double width, double height, std::string_view style);
/// The end of a document.
std::string end_svg();

/// The number of a tick below a horizontal axis at height `bottom`.
std::string tick_below(double x, double bottom, double value);
/// The number of a tick beside a vertical axis, and its grid line from `left` to `right`.
std::string tick_beside(double y, double left, double right, double value);
/// The two axes of a chart, along the left and the bottom side of its area.
std::string axis_lines(double left, double top, double right, double bottom);

}  // namespace lloyd::apps
