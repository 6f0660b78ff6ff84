#include "fit/plot/cluster_plot.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/row_source.hpp>
#include <lloyd/error.hpp>

#include "chart/svg.hpp"
#include "fit/plot/plotted_samples.hpp"

namespace lloyd::apps {
namespace {

std::size_t count_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

Fit fit_with(std::int64_t features, std::vector<double> centroids,
             std::vector<std::int32_t> labels) {
  Fit fit;
  fit.features = features;
  fit.clusters = std::ssize(centroids) / features;
  fit.centroids = std::move(centroids);
  fit.counts.resize(static_cast<std::size_t>(fit.clusters));
  for (const std::int32_t label : labels) ++fit.counts[static_cast<std::size_t>(label)];
  fit.labels = std::move(labels);
  fit.result.inertia = 2.5;
  return fit;
}

std::string dots_of(const std::string& svg) {
  const std::size_t begin = svg.find("<g class=\"d\"");
  return svg.substr(begin, svg.find("</g>", begin) - begin);
}

TEST(ClusterPlot, DrawsSamplesCentroidsAndSizes) {
  const Dataset dataset(
      "a<b.csv", Matrix::from_values(std::vector<double>{0, 0, 2, 0, 10, 1, 10, -1, 10, 0}, 5, 2));
  const std::string svg = cluster_plot_svg(dataset, fit_with(2, {1, 0, 10, 0}, {0, 0, 1, 1, 1}));
  EXPECT_EQ(count_in(dots_of(svg), "h.1"), 5U);
  EXPECT_EQ(count_in(svg, "z\"><title>"), 2U) << "centroids";
  EXPECT_NE(svg.find("a&lt;b.csv"), std::string::npos);
  EXPECT_NE(svg.find("n = 5, d = 2, k = 2, inertia 2.5"), std::string::npos);
  EXPECT_NE(svg.find("first principal axis (98.0 %"), std::string::npos);
  EXPECT_NE(svg.find("second principal axis (2.0 %"), std::string::npos);
  EXPECT_EQ(svg.find("standardized"), std::string::npos);
  EXPECT_LT(svg.find("cluster 1: 3 samples (60.0 %)</text>"),
            svg.find("cluster 0: 2 samples (40.0 %)</text>"));
  const std::size_t first = dots_of(svg).find("cluster 1: 3 samples");
  EXPECT_LT(first, dots_of(svg).find("cluster 0: 2 samples")) << "small clusters are on top";
}

TEST(ClusterPlot, BothAxesHaveTheSameScale) {
  const Dataset dataset("data",
                        Matrix::from_values(std::vector<double>{-2, 0, 2, 0, 0, 1, 0, -1}, 4, 2));
  const std::string svg = dots_of(cluster_plot_svg(dataset, fit_with(2, {0, 0}, {0, 0, 0, 0})));
  // 616 pixels, from 90 to 706, for a length of 4; half as many upwards, for a length of 2.
  EXPECT_NE(svg.find("M90.0 244.0h.1M706.0 244.0h.1M398.0 90.0h.1M398.0 398.0h.1"),
            std::string::npos)
      << svg;
}

TEST(ClusterPlot, OfOneFeatureShowsTheRows) {
  const Dataset dataset("data", Matrix::from_values(std::vector<float>{1, 2, 9}, 3, 1));
  const std::string svg = cluster_plot_svg(dataset, fit_with(1, {1.5, 9}, {0, 0, 1}));
  EXPECT_EQ(count_in(dots_of(svg), "h.1"), 3U);
  EXPECT_NE(svg.find("the only feature (100 % of the variance)"), std::string::npos);
  EXPECT_NE(svg.find("row of the sample"), std::string::npos);
  EXPECT_EQ(svg.find("same scale"), std::string::npos);
}

TEST(ClusterPlot, OfConstantAndExtremeDataIsFinite) {
  for (const double value : {0.0, 0.1, 1e140, -1e140, 1e-300}) {
    for (const std::int64_t d : {1, 2, 3}) {
      std::vector<double> values(static_cast<std::size_t>(7 * d), value);
      const std::vector<double> centroid(static_cast<std::size_t>(d), value);
      const Fit fit = fit_with(d, centroid, std::vector<std::int32_t>(7, 0));
      for (const double first : {value, 0.5 * value}) {
        values[0] = first;
        const Dataset dataset("data", Matrix::from_values(values, 7, d));
        const std::string svg = cluster_plot_svg(dataset, fit);
        EXPECT_EQ(count_in(dots_of(svg), "h.1"), 7U);
        EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
        EXPECT_EQ(svg.find("inf "), std::string::npos) << svg;
      }
    }
  }
}

TEST(ClusterPlot, ListsTheLargestOfManyClusters) {
  constexpr std::int64_t kClusters = 200;
  std::vector<double> values;
  std::vector<std::int32_t> labels;
  for (std::int32_t c = 0; c < kClusters; ++c) {
    for (std::int32_t copies = 0; copies <= c / 100; ++copies) {
      values.insert(values.end(), {static_cast<double>(c), static_cast<double>(c * c)});
      labels.push_back(c);
    }
  }
  const std::int64_t n = std::ssize(labels);
  std::vector<double> centroids;
  for (int c = 0; c < kClusters; ++c) {
    centroids.insert(centroids.end(), {static_cast<double>(c), static_cast<double>(c * c)});
  }
  const Dataset dataset("data", Matrix::from_values(values, n, 2));
  const std::string svg = cluster_plot_svg(dataset, fit_with(2, centroids, labels));
  EXPECT_EQ(count_in(svg, "z\"><title>"), 200U);
  EXPECT_EQ(count_in(svg, "class=\"k\""), 9U);
  EXPECT_NE(svg.find(">cluster 100: 2 samples (0.7 %)</text>"), std::string::npos);
  EXPECT_NE(svg.find(">and 191 more</text>"), std::string::npos);
  EXPECT_EQ(count_in(svg, "class=\"c\""), 0U) << "so many centroids have no numbers";
}

TEST(ClusterPlot, DrawsTheCentroidsOfTheLargestClustersOnly) {
  constexpr std::int32_t kClusters = 2010;
  std::vector<double> values;
  std::vector<std::int32_t> labels;
  for (std::int32_t c = 0; c < kClusters; ++c) {
    values.insert(values.end(), {static_cast<double>(c % 40), static_cast<double>(c)});
    labels.push_back(c);
  }
  const std::vector<double> centroids = values;
  const Dataset dataset("data", Matrix::from_values(values, kClusters, 2));
  const std::string svg = cluster_plot_svg(dataset, fit_with(2, centroids, labels));
  EXPECT_EQ(count_in(svg, "z\"><title>"), 2000U);
  EXPECT_NE(svg.find("only the centroids of the 2000 largest clusters are drawn"),
            std::string::npos);
}

TEST(ClusterPlot, LeavesOutTheCentroidsOfEmptyClusters) {
  const Dataset dataset("data", Matrix::from_values(std::vector<double>{0, 0, 2, 1}, 2, 2));
  const std::string svg = cluster_plot_svg(dataset, fit_with(2, {1, 0.5, 1e9, 0}, {0, 0}));
  EXPECT_EQ(count_in(svg, "z\"><title>"), 1U);
  EXPECT_NE(svg.find("cluster 1: 0 samples (0.0 %)"), std::string::npos);
  EXPECT_EQ(svg.find("e+09"), std::string::npos);
}

TEST(PlottedSamples, AreARandomSampleOfLargeData) {
  EXPECT_EQ(plotted_sample_count(20000, 2), 20000);
  EXPECT_EQ(plotted_sample_count(1'000'000, 104), 20000);
  EXPECT_EQ(plotted_sample_count(70000, 784), 2674);
  EXPECT_EQ(plotted_sample_count(5000, 1'000'000), 100);
  constexpr std::int64_t kRows = 50001;
  std::vector<float> values;
  for (std::int64_t i = 0; i < kRows; ++i) {
    values.insert(values.end(), {static_cast<float>(i), static_cast<float>(2 * i)});
  }
  const Matrix matrix = Matrix::from_values(std::move(values), kRows, 2);
  const Dataset whole("data", matrix);
  const Dataset blocks(std::shared_ptr<const RowSource>(rows_of("data", matrix)), 1000);
  const PlottedSamples drawn = read_plotted_samples(whole, {});
  ASSERT_EQ(drawn.rows.size(), 20000U);
  for (std::size_t i = 0; i < drawn.rows.size(); ++i) {
    ASSERT_TRUE(i == 0 || drawn.rows[i] > drawn.rows[i - 1]);
    ASSERT_EQ(drawn.values[2 * i], static_cast<double>(drawn.rows[i]));
    ASSERT_EQ(drawn.values[2 * i + 1], static_cast<double>(2 * drawn.rows[i]));
  }
  EXPECT_NE(drawn.rows[1], 2);
  const PlottedSamples read = read_plotted_samples(blocks, {});
  EXPECT_EQ(read.rows, drawn.rows);
  EXPECT_EQ(read.values, drawn.values);
  EXPECT_THROW(read_plotted_samples(blocks, [] { return true; }), Cancelled);
}

TEST(AxisRange, LabelsOfTicksFarFromZeroDiffer) {
  EXPECT_NE(tick_below(0, 0, 1'700'000'040).find(">1700000040<"), std::string::npos);
  EXPECT_NE(tick_beside(0, 0, 0, 0.1 + 0.2).find(">0.3<"), std::string::npos);
}

TEST(AxisRange, HasTwoTicksOrMore) {
  for (double low : {-3.0, 0.0, 0.1, 11.0, 51.0, 1234.5}) {
    for (double extent = 1e-3; extent < 1e6; extent *= 1.037) {
      AxisRange range;
      range.include(low);
      range.include(low + extent);
      const std::vector<double> ticks = range.ticks();
      ASSERT_GE(ticks.size(), 2U) << low << " to " << low + extent;
      ASSERT_LE(ticks.size(), 6U) << low << " to " << low + extent;
      for (const double tick : ticks) {
        ASSERT_GE(tick, low - 1e-6 * extent);
        ASSERT_LE(tick, low + extent);
      }
    }
  }
  for (const double value : {-2.0, 0.0, 1e300}) {
    AxisRange range;
    range.include(value);
    range.widen_single_value();
    EXPECT_GE(range.ticks().size(), 2U);
    EXPECT_NEAR(range.share(value), 0.5, 1e-12);
  }
  AxisRange empty;
  empty.widen_single_value();
  EXPECT_TRUE(empty.is_empty());
}

TEST(AxisRange, TicksOfValuesFarFromZeroEnd) {
  AxisRange range;
  range.include(1e20);
  range.include(1e20 + 5e4);
  EXPECT_LE(range.ticks().size(), 6U);
  for (const double value : range.ticks()) {
    EXPECT_GE(value, 1e20);
    EXPECT_LE(value, 1e20 + 5e4);
  }
}

}  // namespace
}  // namespace lloyd::apps
