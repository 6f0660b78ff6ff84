// Random subsets and orders of samples, and standardized features.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/sample_rows.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/standardize.hpp>

namespace lloyd {
namespace {

// Sample i is (i, -i), with class "c<i>".
template <class T>
Dataset numbered_samples(std::int64_t n) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<T>(i));
    values.push_back(static_cast<T>(-i));
  }
  Dataset dataset("numbered", Matrix::from_values(std::move(values), n, 2));
  dataset.feature_names = {"up", "down"};
  for (std::int64_t i = 0; i < n; ++i) dataset.classes.push_back("c" + std::to_string(i));
  return dataset;
}

// The original rows of the samples; checks that values and classes of a row stay together.
std::vector<std::int64_t> rows_in(const Dataset& dataset) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < dataset.samples(); ++i) {
    const auto row = static_cast<std::int64_t>(dataset.matrix().at(i, 0));
    EXPECT_EQ(dataset.matrix().at(i, 1), static_cast<double>(-row));
    EXPECT_EQ(dataset.classes[static_cast<std::size_t>(i)], "c" + std::to_string(row));
    rows.push_back(row);
  }
  return rows;
}

TEST(SampleRows, TakesDistinctRowsInTheOrderOfTheData) {
  const std::vector<std::int64_t> rows =
      rows_in(sample_rows(numbered_samples<float>(1000), {.samples = 300, .seed = 5}));
  EXPECT_EQ(rows.size(), 300U);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), 300U);
  // The mean of uniform rows is 499.5, with a standard deviation of about 14 for 300 of 1000.
  double sum = 0;
  for (const std::int64_t row : rows) sum += static_cast<double>(row);
  EXPECT_NEAR(sum / 300, 499.5, 70);
}

TEST(SampleRows, DependOnTheSeedAlone) {
  const Dataset data = numbered_samples<float>(1000);
  const auto taken = [&](std::int64_t samples, std::uint64_t seed) {
    return rows_in(sample_rows(data, {.samples = samples, .seed = seed}));
  };
  EXPECT_EQ(taken(300, 5), taken(300, 5));
  EXPECT_NE(taken(300, 5), taken(300, 6));
  const std::vector<std::int64_t> more = taken(500, 5);
  const std::vector<std::int64_t> fewer = taken(300, 5);
  EXPECT_TRUE(std::includes(more.begin(), more.end(), fewer.begin(), fewer.end()));
}

TEST(SampleRows, ShufflesAllOrSome) {
  const Dataset data = numbered_samples<double>(200);
  std::vector<std::int64_t> all =
      rows_in(sample_rows(data, {.samples = std::nullopt, .shuffle = true}));
  EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  for (std::int64_t i = 0; i < 200; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
  std::vector<std::int64_t> some = rows_in(sample_rows(data, {.samples = 50, .shuffle = true}));
  std::sort(some.begin(), some.end());
  EXPECT_EQ(some, rows_in(sample_rows(data, {.samples = 50})));
}

TEST(SampleRows, KeepsNamesAndRefusesOtherSizes) {
  const Dataset data = numbered_samples<float>(10);
  const Dataset one = sample_rows(data, {.samples = 1});
  EXPECT_EQ(one.name(), "numbered");
  EXPECT_EQ(one.feature_names, data.feature_names);
  EXPECT_THROW(sample_rows(data, {.samples = 11}), InputError);
  EXPECT_THROW(sample_rows(data, {.samples = 0}), InputError);
}

TEST(Standardize, GivesMeanZeroAndDeviationOne) {
  // Mean 5 and standard deviation 2 (divided by n); the second feature is constant.
  const std::vector<double> first = {2, 4, 4, 4, 5, 5, 7, 9};
  std::vector<double> values;
  for (const double value : first) values.insert(values.end(), {value, 3.5});
  Dataset data("eight", Matrix::from_values(values, 8, 2));
  data.classes.assign(8, "c");
  data.feature_names = {"a", "b"};
  const Dataset result = standardize(data);
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_DOUBLE_EQ(result.matrix().at(i, 0), (first[static_cast<std::size_t>(i)] - 5) / 2);
    EXPECT_EQ(result.matrix().at(i, 1), 0);
  }
  EXPECT_EQ(result.classes, data.classes);
  EXPECT_EQ(result.feature_names, data.feature_names);
  EXPECT_EQ(result.name(), "eight");
}

TEST(Standardize, TakesDeviationsInTheDefaultRoundingMode) {
  const std::vector<FeatureStatistics> statistics = numbered_samples<double>(10).statistics();
  const std::vector<double> expected = Standardization::of(statistics).deviation;
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD}) {
    std::fesetround(rounding);
    const std::vector<double> found = Standardization::of(statistics).deviation;
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(found, expected) << rounding;
  }
}

TEST(Standardize, KeepsTheType) {
  const Dataset result = standardize(numbered_samples<float>(100));
  EXPECT_EQ(result.dtype(), DType::float32);
  EXPECT_NEAR(result.statistics()[0].mean, 0, 1e-6);
  EXPECT_NEAR(result.statistics()[1].variance, 1, 1e-6);
}

}  // namespace
}  // namespace lloyd
