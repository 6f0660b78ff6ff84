// Medians, spreads, outliers, and the coverage of bootstrap intervals.
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/random.hpp>

#include "experiment/statistics/bootstrap.hpp"
#include "experiment/statistics/statistics.hpp"
#include "experiment/statistics/timings.hpp"

namespace lloyd::experiment {
namespace {

// n, n - 1, ..., 1.
std::vector<double> countdown(int n) {
  std::vector<double> values;
  for (int i = n; i > 0; --i) values.push_back(i);
  return values;
}

std::pair<double, double> interval(int n) {
  const MedianInterval found = median_interval(countdown(n));
  return {found.low, found.high};
}

TEST(ExperimentStatistics, Median) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(ExperimentStatistics, QuantilesLieBetweenOrderStatistics) {
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
  EXPECT_EQ(quantile({4, 1, 3, 2, 5}, 0), 1);
  EXPECT_EQ(quantile({4, 1, 3, 2, 5}, 1), 5);
  EXPECT_EQ(quantile({4, 1, 3, 2, 5}, 0.25), 2);
  EXPECT_DOUBLE_EQ(quantile({40, 10, 30, 20, 50}, 0.9), 46);
}

TEST(ExperimentStatistics, SpreadIsThatOfANormalDistribution) {
  EXPECT_EQ(median_absolute_deviation({1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_DOUBLE_EQ(relative_spread({1, 1, 2, 2, 4, 6, 9}), 1.4826 / 2);
  EXPECT_TRUE(std::isnan(relative_spread({})));
  EXPECT_TRUE(std::isnan(relative_spread({0, 0, 0})));
  EXPECT_TRUE(std::isnan(relative_spread({-2, -1, 0, 1, 2})));
  const RandomStream random(1, 0);
  std::vector<double> values;
  for (std::uint64_t i = 0; i < 20'000; ++i) values.push_back(100 + 3 * random.normal(i));
  EXPECT_NEAR(relative_spread(values), 0.03, 0.001);
}

TEST(ExperimentStatistics, OutliersAreThoseOfTheModifiedZScore) {
  // Median 10, median absolute deviation 1: the limit is 3.5 / 0.6745 = 5.19 away.
  EXPECT_EQ(count_outliers({8, 9, 9, 10, 11, 11, 15.1}), 0);
  EXPECT_EQ(count_outliers({8, 9, 9, 10, 11, 11, 15.2}), 1);
  EXPECT_EQ(count_outliers({4.8, 9, 9, 10, 11, 11, 15.2}), 2);
  EXPECT_EQ(count_outliers({5, 5, 5, 6}), 1);
  EXPECT_EQ(count_outliers({5, 500}), 0);
  EXPECT_EQ(count_outliers({}), 0);
}

TEST(ExperimentStatistics, FewValuesHaveTheirRange) {
  EXPECT_TRUE(std::isnan(median_interval({}).low));
  EXPECT_EQ(interval(1), std::pair(1.0, 1.0));
  EXPECT_EQ(interval(5), std::pair(1.0, 5.0));
}

TEST(ExperimentStatistics, IntervalIsThatOfTheIdealBootstrap) {
  // For n = 2m + 1 and all possible resamples, P(median <= j-th value) = P(at least m + 1 of n
  // draws are <= the j-th value) (Efron 1982, section 10.3). The interval begins at the first j for
  // which this exceeds 2.5 %; the comments give the probabilities for j - 1 and j.
  EXPECT_EQ(interval(7), std::pair(2.0, 6.0));    // 0.010, 0.108
  EXPECT_EQ(interval(11), std::pair(3.0, 9.0));   // 0.007, 0.051
  EXPECT_EQ(interval(21), std::pair(7.0, 15.0));  // 0.018, 0.056
}

// By definition: each median is that of n values drawn with replacement.
std::vector<double> medians_by_drawing(const std::vector<double>& values, std::uint64_t stream) {
  const RandomStream random(0, stream);
  std::vector<double> medians;
  std::vector<double> sample(values.size());
  for (std::uint64_t index = 0; medians.size() < 2000;) {
    for (double& value : sample) value = values[random.below(values.size(), index++)];
    medians.push_back(median(sample));
  }
  return medians;
}

TEST(ExperimentStatistics, MediansOfFewValuesAreThoseOfTheValuesDrawn) {
  const RandomStream random(3, 0);
  for (const std::size_t n : {1, 2, 6, 7, 40, 7, 1000}) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(std::round(10 * random.uniform(i)) / 7);
    EXPECT_EQ(resampled_medians(values, n), medians_by_drawing(values, n)) << n;
  }
}

TEST(ExperimentStatistics, MediansOfManyValuesAreDistributedAsThoseOfTheValuesDrawn) {
  for (const int n : {1001, 1002, 4000}) {
    const std::vector<double> values = countdown(n);
    const std::vector<double> found = resampled_medians(values);
    const std::vector<double> expected = medians_by_drawing(values, 1);
    const double deviation = std::sqrt(n) / 2;
    for (const double p : {0.025, 0.25, 0.5, 0.75, 0.975}) {
      // Five standard errors of the difference of two such tail quantiles.
      EXPECT_NEAR(quantile(found, p), quantile(expected, p), 0.45 * deviation) << n << ' ' << p;
    }
    EXPECT_NEAR(median_interval(values).low, (n + 1) / 2.0 - 1.96 * deviation, 0.32 * deviation);
    EXPECT_NEAR(median_interval(values).high, (n + 1) / 2.0 + 1.96 * deviation, 0.32 * deviation);
  }
}

TEST(ExperimentStatistics, AMillionValuesHaveAnInterval) {
  const MedianInterval found = median_interval(countdown(1'000'000));
  EXPECT_EQ(found.median, 500'000.5);
  EXPECT_NEAR(found.low, 500'000.5 - 980, 160);
  EXPECT_NEAR(found.high, 500'000.5 + 980, 160);
}

TEST(ExperimentStatistics, TheSameValuesGiveTheSameInterval) {
  const std::vector<double> values = {3.1, 2.9, 3.3, 3.7, 2.8, 3.0, 3.2};
  EXPECT_EQ(resampled_medians(values, 4), resampled_medians(values, 4));
  EXPECT_NE(resampled_medians(values, 4), resampled_medians(values, 5));
}

// The share of intervals from 15 values that contain `truth`.
double coverage(double truth, const std::function<double(const RandomStream&, std::uint64_t)>& draw,
                bool ratio) {
  constexpr int kIntervals = 600;
  int held = 0;
  for (std::uint64_t t = 0; t < kIntervals; ++t) {
    const RandomStream random(7, t);
    std::vector<double> a;
    std::vector<double> b;
    for (std::uint64_t i = 0; i < 15; ++i) {
      a.push_back(draw(random, i));
      b.push_back(draw(random, 100 + i));
    }
    const MedianInterval found = ratio ? median_ratio_interval(a, b) : median_interval(a);
    held += found.low <= truth && truth <= found.high;
  }
  return held / double{kIntervals};
}

TEST(ExperimentStatistics, IntervalsHoldTheTruthWith95Percent) {
  const auto normal = [](const RandomStream& random, std::uint64_t i) {
    return 10 + random.normal(i);
  };
  const auto exponential = [](const RandomStream& random, std::uint64_t i) {
    return 1 - std::log(random.uniform(i));
  };
  // 0.036 is four standard errors for 600 intervals; with 15 values the percentile interval of the
  // median contains it with probability 0.94.
  EXPECT_NEAR(coverage(10, normal, false), 0.95, 0.036);
  EXPECT_NEAR(coverage(1 + std::log(2), exponential, false), 0.95, 0.036);
  EXPECT_NEAR(coverage(1, normal, true), 0.95, 0.036);
  EXPECT_NEAR(coverage(1, exponential, true), 0.95, 0.036);
}

TEST(ExperimentStatistics, RatiosOfFewValuesReachFromTheLeastToTheMost) {
  const MedianInterval ratio = median_ratio_interval({2, 4, 3}, {1, 1, 2, 1, 1, 1});
  EXPECT_EQ(ratio.median, 3);
  EXPECT_EQ(ratio.low, 1);
  EXPECT_EQ(ratio.high, 4);
}

TEST(ExperimentStatistics, OnlyWholeRoundsArePaired) {
  const Timings older = {{0, 2}, {1, 4}, {3, 8}};
  const Timings newer = {{1, 2}, {2, 3}, {3, 16}};
  EXPECT_EQ(paired_ratios(older, newer), (std::vector<double>{2, 0.5}));
  EXPECT_EQ(values_of(newer), (std::vector<double>{2, 3, 16}));
}

}  // namespace
}  // namespace lloyd::experiment
