#include "chart/principal_axes.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {
namespace {

TEST(PrincipalAxes, AreThoseOfARotatedEllipse) {
  // x = 100 + 3 s u + t v, with u and v orthogonal in three dimensions.
  const std::vector<double> u = {0.6, 0.8, 0};
  const std::vector<double> v = {-0.8, 0.6, 0};
  std::vector<double> rows;
  for (int i = 0; i < 360; ++i) {
    const double angle = i * std::acos(-1.0) / 180;
    for (std::size_t j = 0; j < 3; ++j) {
      rows.push_back(100 + 3 * std::cos(angle) * u[j] + std::sin(angle) * v[j]);
    }
  }
  const PrincipalAxes axes = principal_axes(rows, 3);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(axes.axes[0][j], u[j], 1e-5);
    EXPECT_NEAR(axes.axes[1][j], -v[j], 1e-5) << "the largest entry is positive";
    EXPECT_NEAR(axes.mean[j], 100, 1e-9);
  }
  EXPECT_NEAR(axes.share[0], 0.9, 1e-9);
  EXPECT_NEAR(axes.share[1], 0.1, 1e-9);
  EXPECT_NEAR(axes.project(rows.data())[0], 3, 1e-4);
}

TEST(PrincipalAxes, OfConstantSamplesAreZero) {
  const PrincipalAxes axes = principal_axes(std::vector<double>(30, 1e300), 3);
  EXPECT_EQ(axes.axes[0], std::vector<double>(3, 0.0));
  EXPECT_EQ(axes.share[0], 0);
}

TEST(PrincipalAxes, LargeAndSmallValuesDoNotOverflow) {
  for (const double scale : {1e150, 1e-150}) {
    const PrincipalAxes axes =
        principal_axes({scale, 0, 0, -scale, 0, 0, 0, scale / 2, 0, 0, -scale / 2, 0}, 3);
    EXPECT_NEAR(axes.axes[0][0], 1, 1e-9);
    EXPECT_NEAR(axes.axes[1][1], 1, 1e-9);
    EXPECT_NEAR(axes.share[0], 0.8, 1e-9);
  }
}

// Four samples in a space of many features: variance 8 along the first feature, 2 along the second.
std::vector<double> cross_in(std::size_t features) {
  std::vector<double> rows(4 * features, 5.0);
  rows[0] += 2;
  rows[features] -= 2;
  rows[2 * features + 1] += 1;
  rows[3 * features + 1] -= 1;
  return rows;
}

TEST(PrincipalAxes, AreFoundForAnyNumberOfFeatures) {
  for (const std::size_t d :
       {std::size_t{2}, std::size_t{7}, kMaxCovarianceFeatures, kMaxCovarianceFeatures + 1}) {
    const PrincipalAxes axes = principal_axes(cross_in(d), d);
    EXPECT_NEAR(axes.axes[0][0], 1, 1e-9) << d;
    EXPECT_NEAR(axes.axes[1][1], 1, 1e-9) << d;
    EXPECT_NEAR(axes.share[0], 0.8, 1e-9) << d;
    EXPECT_NEAR(axes.share[1], 0.2, 1e-9) << d;
  }
}

TEST(PrincipalAxes, AreCancelled) {
  const std::size_t d = kMaxCovarianceFeatures + 1;
  int calls = 0;
  const StopFunction at_second_call = [&calls] { return ++calls == 2; };
  EXPECT_THROW(principal_axes(cross_in(d), d, at_second_call), Cancelled);
  EXPECT_EQ(calls, 2);
}

TEST(PrincipalAxes, OfOneFeatureHaveNoSecondAxis) {
  const PrincipalAxes axes = principal_axes({3, 5, 4}, 1);
  EXPECT_EQ(axes.axes[0], std::vector<double>{1});
  EXPECT_EQ(axes.axes[1], std::vector<double>{0});
  EXPECT_EQ(axes.share[0], 1);
  EXPECT_EQ(axes.share[1], 0);
  EXPECT_EQ(axes.project(std::vector<double>{6}.data())[0], 2);
}

TEST(PrincipalAxes, OfALineHaveNoSecondAxis) {
  for (const std::size_t d : {std::size_t{2}, kMaxCovarianceFeatures + 1}) {
    std::vector<double> rows;
    for (int i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < d; ++j) rows.push_back(i * (j == 1 ? 0.3 : 0.1));
    }
    const PrincipalAxes axes = principal_axes(rows, d);
    EXPECT_NEAR(axes.axes[0][1] / axes.axes[0][0], 3, 1e-9) << d;
    EXPECT_EQ(axes.axes[1], std::vector<double>(d, 0.0)) << d;
    EXPECT_NEAR(axes.share[0], 1, 1e-9) << d;
    EXPECT_EQ(axes.share[1], 0) << d;
  }
}

TEST(PrincipalAxes, NearlyEqualVariancesAreToldApart) {
  // Variances 1 and 0.999 along (c, s) and (-s, c): power iteration needs thousands of rounds.
  const double small = std::sqrt(0.999);
  const double c = 0.6;
  const double s = 0.8;
  std::vector<double> rows;
  for (const double along : {1.0, -1.0}) {
    for (const double across : {small, -small}) {
      rows.insert(rows.end(), {along * c - across * s, along * s + across * c});
    }
  }
  const PrincipalAxes axes = principal_axes(rows, 2);
  EXPECT_NEAR(axes.axes[0][0], c, 1e-10);
  EXPECT_NEAR(axes.axes[0][1], s, 1e-10);
}

TEST(PrincipalAxes, RoundingGivesConstantFeaturesNoVariance) {
  // The rounded mean of seven times 0.1 is not 0.1.
  std::vector<double> rows;
  for (int i = 0; i < 7; ++i) rows.insert(rows.end(), {0.1, 0.3});
  const PrincipalAxes axes = principal_axes(rows, 2);
  EXPECT_EQ(axes.axes[0], std::vector<double>(2, 0.0));
  EXPECT_EQ(axes.share[0], 0);
}

TEST(PrincipalAxes, TheFirstOfEqualEntriesIsPositive) {
  const PrincipalAxes axes = principal_axes({1, -1, -1, 1, 0.1, 0.1, -0.1, -0.1}, 2);
  EXPECT_GT(axes.axes[0][0], 0);
  EXPECT_LT(axes.axes[0][1], 0);
}

}  // namespace
}  // namespace lloyd::apps
