// SumPlan and ClusterSums: exact sums of every width, and the compensated form.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "unit/support/shewchuk_sum.hpp"

namespace lloyd {
namespace {

constexpr std::int64_t kClusters = 5;

template <class T>
struct Samples {
  std::vector<T> values;  // row-major
  std::int64_t features;
  std::vector<std::int32_t> labels;

  std::int64_t rows() const { return static_cast<std::int64_t>(labels.size()); }
  const T* row(std::int64_t i) const { return values.data() + i * features; }
  Dataset dataset() const {
    return Dataset("samples", Matrix::from_values(values, rows(), features));
  }
};

// Integers in [-2^bits, 2^bits] times 2^exponent.
template <class T>
Samples<T> fixed_point_samples(std::int64_t rows, std::int64_t features, int bits, int exponent,
                               unsigned seed = 1) {
  std::mt19937_64 random(seed);
  Samples<T> samples{{}, features, {}};
  for (std::int64_t i = 0; i < rows * features; ++i) {
    const auto integer = static_cast<double>(random() >> (64 - bits));
    const double value = std::ldexp(integer, exponent);
    samples.values.push_back(static_cast<T>((random() & 1) != 0 ? -value : value));
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    samples.labels.push_back(static_cast<std::int32_t>(random() % kClusters));
  }
  return samples;
}

// Random mantissas with exponents in [lowest, highest].
template <class T>
Samples<T> wide_samples(std::int64_t rows, std::int64_t features, int lowest, int highest) {
  Samples<T> samples = fixed_point_samples<T>(rows, features, 24, -24);
  std::mt19937_64 random(2);
  for (T& value : samples.values) {
    const auto spread = static_cast<unsigned>(highest - lowest + 1);
    value = std::ldexp(value, lowest + static_cast<int>(random() % spread));
  }
  return samples;
}

template <class T>
std::vector<double> means(const Samples<T>& samples, ClusterSums& sums) {
  std::vector<double> result(static_cast<std::size_t>(kClusters * samples.features));
  for (std::int64_t c = 0; c < kClusters; ++c) {
    if (sums.count(c) > 0) sums.mean(c, result.data() + c * samples.features);
  }
  return result;
}

template <class T>
std::vector<double> expected_means(const Samples<T>& samples) {
  const std::int64_t d = samples.features;
  std::vector<ShewchukSum> sums(static_cast<std::size_t>(kClusters * d));
  std::vector<double> counts(kClusters);
  for (std::int64_t i = 0; i < samples.rows(); ++i) {
    const std::int32_t label = samples.labels[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < d; ++j) {
      sums[static_cast<std::size_t>(label * d + j)].add(static_cast<double>(samples.row(i)[j]));
    }
    counts[static_cast<std::size_t>(label)] += 1;
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double count = counts[i / static_cast<std::size_t>(d)];
    result.push_back(count > 0 ? sums[i].value() / count : 0);
  }
  return result;
}

template <class T>
void add_rows(ClusterSums& sums, const Samples<T>& samples, std::int64_t begin, std::int64_t end) {
  sums.add(samples.row(begin), samples.features, end - begin, samples.labels.data() + begin);
}

template <class T>
ClusterSums sum_of(const SumPlan& plan, const Samples<T>& samples) {
  ClusterSums sums(plan, kClusters);
  add_rows(sums, samples, 0, samples.rows());
  return sums;
}

struct Words {
  std::vector<SumWords> sums;
  std::vector<std::int64_t> counts = std::vector<std::int64_t>(kClusters);

  bool operator==(const Words& other) const {
    return counts == other.counts &&
           std::equal(sums.begin(), sums.end(), other.sums.begin(), other.sums.end(),
                      [](const SumWords& a, const SumWords& b) {
                        return a.low == b.low && a.high == b.high;
                      });
  }
};

Words store(const SumPlan& plan, ClusterSums& sums) {
  Words words;
  words.sums.resize(static_cast<std::size_t>(kClusters * plan.features));
  sums.store(words.sums.data(), words.counts.data());
  return words;
}

// Properties of integer sums with any number of limbs.
template <class T>
void check_integer_sums(const Samples<T>& samples, int lanes) {
  const Dataset dataset = samples.dataset();
  const SumPlan plan = SumPlan::make(dataset.view());
  ASSERT_TRUE(plan.is_integer());
  ASSERT_EQ(plan.limbs, lanes);
  ClusterSums whole = sum_of(plan, samples);
  const Words words = store(plan, whole);
  const std::vector<double> expected = expected_means(samples);
  EXPECT_EQ(means(samples, whole), expected);

  for (const std::int64_t piece : {std::int64_t{1}, std::int64_t{7}, std::int64_t{4096}}) {
    SCOPED_TRACE("pieces of " + std::to_string(piece));
    ClusterSums forward(plan, kClusters), even(plan, kClusters), odd(plan, kClusters);
    Words carried{std::vector<SumWords>(words.sums.size()), std::vector<std::int64_t>(kClusters)};
    for (std::int64_t begin = 0; begin < samples.rows(); begin += piece) {
      const std::int64_t end = std::min(begin + piece, samples.rows());
      add_rows(forward, samples, begin, end);
      add_rows((begin / piece) % 2 == 0 ? even : odd, samples, begin, end);
      ClusterSums fresh(plan, kClusters);  // the same by load, add and store, as partial() does
      fresh.load(carried.sums.data(), carried.counts.data());
      add_rows(fresh, samples, begin, end);
      carried = store(plan, fresh);
    }
    EXPECT_TRUE(store(plan, forward) == words);
    odd.merge(even);
    EXPECT_TRUE(store(plan, odd) == words);
    EXPECT_TRUE(carried == words);
  }

  // Moving a sample gives the same sums as adding it to the other cluster; this also holds for sums
  // of moves alone.
  Samples<T> moved = samples;
  ClusterSums changed = sum_of(plan, samples);
  ClusterSums moves(plan, kClusters);
  for (std::int64_t i = 0; i < moved.rows(); i += 3) {
    auto& label = moved.labels[static_cast<std::size_t>(i)];
    const auto to = static_cast<std::int32_t>((label + 1) % kClusters);
    whole.move(moved.row(i), label, to);
    moves.move(moved.row(i), label, to);
    label = to;
  }
  ClusterSums anew = sum_of(plan, moved);
  EXPECT_TRUE(store(plan, whole) == store(plan, anew));
  changed.merge(moves);
  EXPECT_TRUE(store(plan, changed) == store(plan, anew));

  whole.clear();
  EXPECT_EQ(whole.count(0), 0);
  add_rows(whole, samples, 0, samples.rows());
  EXPECT_TRUE(store(plan, whole) == words);
}

// Integers of every width, and those around powers of two and around ties.
TEST(ToDouble, RoundsAsTheCompilerDoes) {
  std::mt19937_64 random(3);
  std::int64_t wrong = 0;
  const auto compare = [&](Int128 value) {
    for (const Int128 near : {value - 1, value, value + 1, -value - 1, -value, 1 - value}) {
      if (to_double(near) != static_cast<double>(near)) ++wrong;
    }
  };
  for (int bits = 1; bits < 126; ++bits) {
    const Int128 power = static_cast<Int128>(1) << bits;
    compare(power);
    if (bits > 53) compare(power + (power >> 54));
    if (bits > 53) compare(power + 3 * (power >> 54));
    for (int trial = 0; trial < 200; ++trial) {
      const Int128 digits = static_cast<Int128>(random()) << 64 | random();
      compare(power | (digits & (power - 1)));
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ClusterSums, OneLimbInOneWord) {
  const auto samples = fixed_point_samples<float>(3000, 3, 20, -10);
  EXPECT_EQ(SumPlan::make(samples.dataset().view()).form, SumForm::integer64);
  check_integer_sums(samples, 1);
  check_integer_sums(fixed_point_samples<double>(3000, 3, 20, -10), 1);
}

TEST(ClusterSums, OneLimbInTwoWords) {
  const auto samples = fixed_point_samples<double>(9000, 3, 50, 7);  // flushed every 4096 rows
  EXPECT_EQ(SumPlan::make(samples.dataset().view()).form, SumForm::integer128);
  check_integer_sums(samples, 1);
}

TEST(ClusterSums, TwoLimbs) {
  check_integer_sums(fixed_point_samples<double>(9000, 3, 53, -53), 2);
  check_integer_sums(wide_samples<float>(9000, 3, -30, 20), 2);
  check_integer_sums(wide_samples<double>(9000, 1, -30, 45), 2);
}

TEST(ClusterSums, ThreeLimbs) {
  check_integer_sums(wide_samples<float>(9000, 3, -60, 20), 3);
  check_integer_sums(wide_samples<double>(2000, 2, -70, 17), 3);
}

TEST(ClusterSums, FeaturesOfDifferentQuanta) {
  auto samples = fixed_point_samples<double>(2000, 4, 30, -30);
  for (std::size_t i = 0; i < samples.values.size(); ++i) {
    samples.values[i] *= std::array<double, 4>{0x1p-900, 0x1p800, 0.0, 0x1p3}[i % 4];
  }
  // The range exceeds that of a Dataset, so the view is created here.
  const Dataset unscaled = fixed_point_samples<double>(2000, 4, 30, -30).dataset();
  std::vector<FeatureStatistics> statistics = unscaled.statistics();
  const std::array<int, 4> exponents = {-900, 800, 0, 3};
  for (std::size_t j = 0; j < 4; ++j) {
    statistics[j].minimum = std::ldexp(statistics[j].minimum, exponents[j]);
    statistics[j].maximum = std::ldexp(statistics[j].maximum, exponents[j]);
    statistics[j].quantum_exponent += exponents[j];
  }
  statistics[2] = {};
  DatasetView view = unscaled.view();
  view.statistics = statistics.data();
  const SumPlan plan = SumPlan::make(view);
  ASSERT_TRUE(plan.is_integer());
  ClusterSums sums = sum_of(plan, samples);
  EXPECT_EQ(means(samples, sums), expected_means(samples));
}

// A feature at the top of the range: with a number of limbs set by another feature, its upper limbs
// would exceed the range.
TEST(ClusterSums, RangeOfUpperLimbs) {
  for (const int exponent : {800, 880, 900, 950}) {
    Samples<double> samples{{}, 2, {}};
    const auto wide = wide_samples<double>(300, 1, -70, 20);
    for (std::int64_t i = 0; i < wide.rows(); ++i) {
      samples.values.push_back(std::ldexp(1.0, exponent));
      samples.values.push_back(*wide.row(i));
    }
    samples.labels = wide.labels;
    const Dataset dataset = samples.dataset();
    const SumPlan plan = SumPlan::make(dataset.view());
    EXPECT_EQ(plan.is_integer(), exponent < 890);
    ClusterSums sums = sum_of(plan, samples);
    EXPECT_EQ(means(samples, sums), expected_means(samples)) << "exponent " << exponent;
  }
}

TEST(ClusterSums, Denormals) {
  auto narrow = fixed_point_samples<float>(1000, 2, 10, 0);
  for (float& value : narrow.values) value = std::ldexp(value, -149);
  check_integer_sums(narrow, 1);

  auto wide = fixed_point_samples<double>(1000, 2, 10, 0);
  for (double& value : wide.values) value = std::ldexp(value, -1074);
  const Dataset dataset = wide.dataset();
  const SumPlan plan = SumPlan::make(dataset.view());
  EXPECT_EQ(plan.form, SumForm::compensated);
  ClusterSums sums = sum_of(plan, wide);
  EXPECT_EQ(means(wide, sums), expected_means(wide));
}

TEST(ClusterSums, AllZero) {
  Samples<float> samples{std::vector<float>(20), 2, std::vector<std::int32_t>(10, 3)};
  check_integer_sums(samples, 1);
}

TEST(ClusterSums, StridedRows) {
  const auto samples = fixed_point_samples<float>(100, 3, 20, 0);
  std::vector<float> padded(100 * 5, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < 300; ++i) padded[i / 3 * 5 + i % 3] = samples.values[i];
  const Dataset dataset = samples.dataset();
  const SumPlan plan = SumPlan::make(dataset.view());
  ClusterSums sums(plan, kClusters);
  sums.add(padded.data(), 5, 100, samples.labels.data());
  EXPECT_EQ(means(samples, sums), expected_means(samples));
}

// The plan for `rows` samples, given one block of them.
template <class T>
SumPlan plan_for(const Samples<T>& block, std::int64_t rows) {
  const Dataset dataset = block.dataset();
  DatasetView view = dataset.view();
  view.total_samples = rows;
  return SumPlan::make(view);
}

// 3e7 equal samples: a float32 running sum would stall at 2^24.
TEST(ClusterSums, LongSumsDoNotStall) {
  constexpr std::int64_t kBlock = 100000, kBlocks = 300;
  for (const float value : {1.0f, 0.1f, 123456.7f}) {
    Samples<float> block{std::vector<float>(kBlock, value), 1,
                         std::vector<std::int32_t>(kBlock, 2)};
    const SumPlan plan = plan_for(block, kBlock * kBlocks);
    ClusterSums sums(plan, kClusters);
    for (std::int64_t b = 0; b < kBlocks; ++b) add_rows(sums, block, 0, kBlock);
    EXPECT_EQ(sums.count(2), kBlock * kBlocks);
    double mean = 0;
    sums.mean(2, &mean);
    EXPECT_EQ(mean, static_cast<double>(value));
  }
}

// Largest values of one sign, more of them than a 64-bit word could sum without flushes.
TEST(ClusterSums, SaturatedLimbs) {
  constexpr std::int64_t kBlock = 20000, kBlocks = 10;
  for (const int bits : {50, 51, 53}) {
    for (const double sign : {1.0, -1.0}) {
      const double value = sign * (std::ldexp(1.0, bits) - 1);
      Samples<double> block{std::vector<double>(kBlock, value), 1,
                            std::vector<std::int32_t>(kBlock, 0)};
      const SumPlan plan = plan_for(block, kBlock * kBlocks);
      ASSERT_EQ(plan.form, SumForm::integer128);
      ASSERT_LT(plan.flush_rows, std::int64_t{1} << 40);
      ClusterSums sums(plan, kClusters);
      for (std::int64_t b = 0; b < kBlocks; ++b) add_rows(sums, block, 0, kBlock);
      double mean = 0;
      sums.mean(0, &mean);
      // The product of two float64 values is the exact sum rounded once.
      EXPECT_EQ(mean, value * (kBlock * kBlocks) / (kBlock * kBlocks)) << bits << " bits";
    }
  }
}

// Sums near the limit of 128 bits: the widest values with the most samples that a plan admits.
TEST(ClusterSums, SaturatedTotals) {
  const double value = 0x1p95;
  Samples<double> block{{value, 1.0}, 1, {0, 1}};
  const std::int64_t most = (std::int64_t{1} << 30) - 1;  // 96 + 30 + 1 bits
  const SumPlan plan = plan_for(block, most);
  ASSERT_EQ(plan.form, SumForm::integer128);
  EXPECT_EQ(plan_for(block, most + 1).form, SumForm::compensated);

  ClusterSums sums(plan, kClusters);
  add_rows(sums, block, 0, 1);
  const std::int64_t one = 1;
  for (int doubling = 0; doubling < 29; ++doubling) {
    const Words words = store(plan, sums);
    ClusterSums copy(plan, kClusters);
    copy.load(words.sums.data(), words.counts.data());
    sums.merge(copy);
  }
  EXPECT_EQ(sums.count(0), one << 29);
  double mean = 0;
  sums.mean(0, &mean);
  EXPECT_EQ(mean, value);
}

// One sample of 1e30 among values near one: two words cannot hold both.
Samples<float> outlier_samples() {
  auto samples = wide_samples<float>(4000, 2, -20, 1);
  samples.values[2000] = 1e30f;
  return samples;
}

TEST(ClusterSums, CompensatedWhereTheRangeFitsNoWords) {
  const auto samples = outlier_samples();
  const Dataset dataset = samples.dataset();
  const SumPlan plan = SumPlan::make(dataset.view());
  ASSERT_EQ(plan.form, SumForm::compensated);
  ClusterSums sums = sum_of(plan, samples);
  const std::vector<double> actual = means(samples, sums);
  const std::vector<double> expected = expected_means(samples);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 4e-16 * std::abs(expected[i])) << "cell " << i;
  }
}

TEST(ClusterSums, CompensatedSumsGoOnFromStoredWords) {
  const auto samples = outlier_samples();
  const Dataset dataset = samples.dataset();
  const SumPlan plan = SumPlan::make(dataset.view());
  ClusterSums whole = sum_of(plan, samples);
  const Words words = store(plan, whole);
  for (const std::int64_t piece : {1, 7, 1999, 4000}) {
    Words carried{std::vector<SumWords>(words.sums.size()), std::vector<std::int64_t>(kClusters)};
    for (std::int64_t begin = 0; begin < samples.rows(); begin += piece) {
      ClusterSums part(plan, kClusters);
      part.load(carried.sums.data(), carried.counts.data());
      add_rows(part, samples, begin, std::min(begin + piece, samples.rows()));
      carried = store(plan, part);
    }
    EXPECT_TRUE(carried == words) << "pieces of " << piece;
  }
}

TEST(ClusterSums, CompensationKeepsWhatCancels) {
  Samples<double> samples{{1e30, 1e-10, -1e30, 1e-10}, 1, {0, 0, 0, 0}};
  const Dataset dataset = samples.dataset();
  const SumPlan plan = SumPlan::make(dataset.view());
  ASSERT_EQ(plan.form, SumForm::compensated);
  ClusterSums sums = sum_of(plan, samples);
  double mean = 0;
  sums.mean(0, &mean);
  EXPECT_EQ(mean, 5e-11);
}

}  // namespace
}  // namespace lloyd
