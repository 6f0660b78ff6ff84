#include "fit/plot/cluster_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "chart/principal_axes.hpp"
#include "chart/svg.hpp"
#include "fit/plot/plotted_samples.hpp"
#include "options/data_options.hpp"

namespace lloyd::apps {
namespace {

// Lengths in pixels.
constexpr double kAreaWidth = 640;
constexpr double kMinAreaHeight = 180;
constexpr double kMaxAreaHeight = 640;
constexpr double kAreaLeft = 78;
constexpr double kAreaTop = 78;
constexpr double kLegendGap = 24;
constexpr double kLegendWidth = 230;
constexpr double kLegendLine = 18;
constexpr double kBelowArea = 48;
constexpr double kPadding = 12;  // between the outermost points and the sides of the area
constexpr std::int64_t kMaxNumberedCentroids = 40;
constexpr std::size_t kMaxDrawnCentroids = 2000;
constexpr std::size_t kMaxNameBytes = 80;

using Point = std::array<double, 2>;

// Coordinates of samples and centroids in the unit of the data, and the titles of both axes.
struct Projection {
  std::vector<Point> samples;
  std::vector<Point> centroids;
  std::array<std::string, 2> titles;
  bool equal_scales = true;
};

std::string axis_title(const char* ordinal, double share) {
  return fmt::format("{} principal axis ({:.1f} % of the variance)", ordinal, 100 * share);
}

Projection project_one_feature(const Dataset& dataset, const PlottedSamples& samples,
                               const Fit& fit) {
  Projection projection;
  for (std::size_t i = 0; i < samples.rows.size(); ++i) {
    projection.samples.push_back({samples.values[i], static_cast<double>(samples.rows[i])});
  }
  for (const double centroid : fit.centroids) {
    projection.centroids.push_back({centroid, static_cast<double>(dataset.samples() - 1) / 2});
  }
  const std::string name = dataset.feature_names.size() == 1
                               ? fmt::format(" {}", shown(dataset.feature_names.front()))
                               : "";
  projection.titles = {fmt::format("the only feature{} (100 % of the variance)", name),
                       "row of the sample"};
  projection.equal_scales = false;
  return projection;
}

Projection project(const Dataset& dataset, const PlottedSamples& samples, const Fit& fit,
                   const StopFunction& stop) {
  if (dataset.features() == 1) return project_one_feature(dataset, samples, fit);
  const auto d = static_cast<std::size_t>(dataset.features());
  const PrincipalAxes axes = principal_axes(samples.values, d, stop);
  Projection projection;
  for (std::size_t at = 0; at < samples.values.size(); at += d) {
    projection.samples.push_back(axes.project(&samples.values[at]));
  }
  for (std::size_t at = 0; at < fit.centroids.size(); at += d) {
    projection.centroids.push_back(axes.project(&fit.centroids[at]));
  }
  projection.titles = {axis_title("first", axes.share[0]), axis_title("second", axes.share[1])};
  return projection;
}

// Maps coordinates to pixels.
class Area {
 public:
  Area(const Projection& projection, const Fit& fit) {
    for (const Point& point : projection.samples) include(point);
    for (std::size_t c = 0; c < projection.centroids.size(); ++c) {
      if (fit.counts[c] > 0) include(projection.centroids[c]);
    }
    if (projection.equal_scales) equalize();
    across_.widen_single_value();
    up_.widen_single_value();
  }

  double height() const { return height_; }
  double bottom() const { return kAreaTop + height_; }
  double x(double value) const {
    return kAreaLeft + kPadding + across_.share(value) * inner_width();
  }
  double y(double value) const { return bottom() - kPadding - up_.share(value) * inner_height(); }

  std::string axes(const Projection& projection) const {
    constexpr double kRight = kAreaLeft + kAreaWidth;
    std::string svg = axis_lines(kAreaLeft, kAreaTop, kRight, bottom());
    for (const double value : across_.ticks()) svg += tick_below(x(value), bottom(), value);
    for (const double value : up_.ticks()) svg += tick_beside(y(value), kAreaLeft, kRight, value);
    svg += fmt::format(
        "<text class=\"t\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        kAreaLeft + kAreaWidth / 2, bottom() + 36, escape_xml(projection.titles[0]));
    const double middle = kAreaTop + height_ / 2;
    svg += fmt::format(
        "<text class=\"t\" text-anchor=\"middle\" x=\"18\" y=\"{0:.1f}\" "
        "transform=\"rotate(-90 18 {0:.1f})\">{1}</text>\n",
        middle, escape_xml(projection.titles[1]));
    return svg;
  }

 private:
  double inner_width() const { return kAreaWidth - 2 * kPadding; }
  double inner_height() const { return height_ - 2 * kPadding; }

  void include(const Point& point) {
    across_.include(point[0]);
    up_.include(point[1]);
  }

  // Chooses the height and extends one of the ranges, so that a pixel stands for the same length in
  // both directions.
  void equalize() {
    const double width = across_.high() - across_.low();
    const double extent = up_.high() - up_.low();
    if (!(width > 0) && !(extent > 0)) return;
    const double wanted = width > 0 ? extent / width * inner_width() : kMaxAreaHeight;
    height_ = std::clamp(wanted + 2 * kPadding, kMinAreaHeight, kMaxAreaHeight);
    const double scale = std::max(width / inner_width(), extent / inner_height());
    widen(across_, scale * inner_width());
    widen(up_, scale * inner_height());
  }

  static void widen(AxisRange& range, double length) {
    const double middle = range.low() + (range.high() - range.low()) / 2;
    range.include(middle - length / 2);
    range.include(middle + length / 2);
  }

  double height_ = kAreaWidth / 2;
  AxisRange across_, up_;
};

// The style of a cluster by its rank: 7 colours, first with round marks, then with square ones.
struct ClusterStyle {
  const char* colour;
  bool square;
};

ClusterStyle style_of_rank(std::size_t rank) {
  return {kSeriesColours[rank % kSeriesColours.size()], rank / kSeriesColours.size() % 2 == 1};
}

// The clusters by size, the largest first.
std::vector<std::size_t> clusters_by_size(const Fit& fit) {
  std::vector<std::size_t> order(fit.counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return fit.counts[a] > fit.counts[b]; });
  return order;
}

std::string size_text(const Fit& fit, std::size_t cluster) {
  const std::int64_t count = fit.counts[cluster];
  return fmt::format("cluster {}: {} sample{} ({:.1f} %)", cluster, count, count == 1 ? "" : "s",
                     100 * static_cast<double>(count) / static_cast<double>(fit.labels.size()));
}

// The samples of each cluster as one path of dots: zero-length lines with wide ends.
std::string dots(const Projection& projection, const PlottedSamples& samples, const Fit& fit,
                 const std::vector<std::size_t>& order, const Area& area) {
  std::vector<std::string> paths(fit.counts.size());
  for (std::size_t i = 0; i < samples.rows.size(); ++i) {
    const std::int32_t label = fit.labels[static_cast<std::size_t>(samples.rows[i])];
    const Point& point = projection.samples[i];
    fmt::format_to(std::back_inserter(paths[static_cast<std::size_t>(label)]), "M{:.1f} {:.1f}h.1",
                   area.x(point[0]), area.y(point[1]));
  }
  constexpr std::size_t kManySamples = 2000;
  std::string svg = fmt::format("<g class=\"d\" stroke-width=\"{}\">\n",
                                samples.rows.size() > kManySamples ? 3 : 4.5);
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::string& path = paths[order[rank]];
    if (path.empty()) continue;
    const ClusterStyle style = style_of_rank(rank);
    svg += fmt::format("<path stroke=\"{}\"{} d=\"{}\"><title>{}</title></path>\n", style.colour,
                       style.square ? " style=\"stroke-linecap:square\"" : "", path,
                       size_text(fit, order[rank]));
  }
  return svg + "</g>\n";
}

// Diamonds for the largest clusters, numbered unless there are too many. Empty clusters are left
// out.
std::string centroid_marks(const Projection& projection, const Fit& fit,
                           const std::vector<std::size_t>& order, const Area& area) {
  const bool numbered = fit.clusters <= kMaxNumberedCentroids;
  const double radius = numbered ? 7 : 4.5;
  std::string svg = "<g class=\"m\">\n";
  for (std::size_t rank = std::min(order.size(), kMaxDrawnCentroids); rank-- > 0;) {
    const std::size_t cluster = order[rank];
    if (fit.counts[cluster] == 0) continue;
    const double x = area.x(projection.centroids[cluster][0]);
    const double y = area.y(projection.centroids[cluster][1]);
    svg += fmt::format(
        "<path fill=\"{0}\" d=\"M{1:.1f} {2:.1f}l{3} {3}l-{3} {3}l-{3} -{3}z\">"
        "<title>{4}</title></path>\n",
        style_of_rank(rank).colour, x, y - radius, radius, size_text(fit, cluster));
    if (numbered) {
      svg += fmt::format("<text class=\"c\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + radius + 2,
                         y + 4, cluster);
    }
  }
  return svg + "</g>\n";
}

std::string legend(const Fit& fit, const std::vector<std::size_t>& order, double height) {
  const double left = kAreaLeft + kAreaWidth + kLegendGap;
  const auto lines = static_cast<std::size_t>(height / kLegendLine);
  const std::size_t listed = order.size() <= lines ? order.size() : lines - 1;
  std::string svg;
  double y = kAreaTop + kLegendLine / 2;
  const auto add_text = [&](const std::string& text) {
    svg += fmt::format("<text class=\"n\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left + 14, y + 4,
                       text);
    y += kLegendLine;
  };
  for (std::size_t rank = 0; rank < listed; ++rank) {
    const ClusterStyle style = style_of_rank(rank);
    svg += fmt::format("<path class=\"k\" stroke=\"{}\"{} d=\"M{:.1f} {:.1f}h.1\"/>", style.colour,
                       style.square ? " style=\"stroke-linecap:square\"" : "", left + 4, y);
    add_text(size_text(fit, order[rank]));
  }
  if (listed < order.size()) add_text(fmt::format("and {} more", order.size() - listed));
  return svg;
}

std::string header(const Dataset& dataset, const PlottedSamples& samples, const Fit& fit,
                   bool equal_scales) {
  const std::int64_t n = dataset.samples();
  const auto drawn = static_cast<std::int64_t>(samples.rows.size());
  std::string space = fit.standardization ? "standardized features, as clustered" : "";
  const auto add = [&](const std::string& remark) {
    space += (space.empty() ? "" : "; ") + remark;
  };
  if (drawn < n)
    add(fmt::format("a random sample of {} (seed 0) is drawn", format_count(drawn, "sample")));
  if (fit.counts.size() > kMaxDrawnCentroids) {
    add(fmt::format("only the centroids of the {} largest clusters are drawn", kMaxDrawnCentroids));
  }
  if (equal_scales) add("both axes have the same scale");
  const auto line = [](double y, const char* style, const std::string& text) {
    return fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" {}>{}</text>\n", kAreaLeft, y, style, text);
  };
  return line(22, "font-size=\"15\" font-weight=\"600\"",
              escape_xml(shown(data_name(dataset), kMaxNameBytes))) +
         line(42, "font-size=\"13\"",
              fmt::format("n = {}, d = {}, k = {}, inertia {:.8g}", n, dataset.features(),
                          fit.clusters, fit.result.inertia)) +
         line(60, "class=\"n\"", space);
}

}  // namespace

std::string cluster_plot_svg(const Dataset& dataset, const Fit& fit, const StopFunction& stop) {
  const FloatEnvironment environment;  // the backend may have changed the modes of this thread
  const PlottedSamples samples = read_plotted_samples(dataset, stop);
  const Projection projection = project(dataset, samples, fit, stop);
  const Area area(projection, fit);
  const std::vector<std::size_t> order = clusters_by_size(fit);
  const double width = kAreaLeft + kAreaWidth + kLegendGap + kLegendWidth;
  const std::string style = fmt::format(
      ".t{{font-size:12px;fill:{0}}}.d{{fill:none;stroke-linecap:round;stroke-opacity:.6}}"
      ".k{{fill:none;stroke-linecap:round;stroke-width:9}}"
      ".m path{{stroke:{0};stroke-width:1.5}}"
      ".c{{font-size:12px;font-weight:600;fill:{0};stroke:#fff;stroke-width:3;paint-order:stroke}}",
      kInk);
  return begin_svg(width, kAreaTop + area.height() + kBelowArea, style) +
         header(dataset, samples, fit, projection.equal_scales) + area.axes(projection) +
         dots(projection, samples, fit, order, area) +
         centroid_marks(projection, fit, order, area) + legend(fit, order, area.height()) +
         end_svg();
}

}  // namespace lloyd::apps
