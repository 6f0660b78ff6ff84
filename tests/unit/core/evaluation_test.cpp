// Inertia, label check and adjusted Rand index against independently computed values.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>

namespace lloyd {
namespace {

using Labels = std::vector<std::int32_t>;

Dataset line(std::vector<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return Dataset("line", Matrix::from_values(std::move(values), n, 1));
}

template <class T>
Dataset wave_samples(std::int64_t n, std::int64_t d) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < n * d; ++i) {
    values.push_back(static_cast<T>(std::sin(static_cast<double>(i * i % 1009)) * 10));
  }
  return Dataset("scattered", Matrix::from_values(std::move(values), n, d));
}

std::vector<double> scattered_centroids(std::int64_t k, std::int64_t d) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < k * d; ++i) {
    values.push_back(std::cos(static_cast<double>(i * i % 31)) * 7);
  }
  return values;
}

std::string evaluation_message(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Inertia, OfALine) {
  const std::vector<double> centroids = {0, 10};
  EXPECT_EQ(inertia(line({1, -2, 13, 10}), centroids, Labels{0, 0, 1, 1}), 1 + 4 + 9);
  EXPECT_EQ(inertia(line({1, -2, 13, 10}), centroids, Labels{1, 0, 1, 1}), 81 + 4 + 9);
}

// float64 sums in row order would give 2^54; the exact sum rounds only once.
TEST(Inertia, RoundsOnce) {
  std::vector<double> values(101, 1);
  values[0] = 0x1p27;
  EXPECT_EQ(inertia(line(values), std::vector<double>{0}, Labels(101, 0)), 0x1p54 + 100);
}

template <class T>
void expect_inertia_as_in_long_double() {
  const std::int64_t n = 500, d = 7, k = 4;
  const Dataset dataset = wave_samples<T>(n, d);
  const std::vector<double> centroids = scattered_centroids(k, d);
  Labels labels;
  long double expected = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    labels.push_back(static_cast<std::int32_t>(i % k));
    for (std::int64_t j = 0; j < d; ++j) {
      const long double difference = static_cast<long double>(dataset.matrix().at(i, j)) -
                                     centroids[static_cast<std::size_t>(i % k * d + j)];
      expected += difference * difference;
    }
  }
  EXPECT_NEAR(inertia(dataset, centroids, labels) / static_cast<double>(expected), 1, 1e-14);
}

TEST(Inertia, AgreesWithLongDouble) {
  expect_inertia_as_in_long_double<float>();
  expect_inertia_as_in_long_double<double>();
}

TEST(Inertia, RefusesWhatDoesNotFit) {
  const Dataset dataset = line({1, 2, 3});
  const std::vector<double> centroids = {0, 1};
  EXPECT_EQ(evaluation_message([&] {
              inertia(dataset, centroids, Labels{0, 2, 1});
            }),
            "line: the label of row 1 (counted from 0) is 2, not in 0 to 1");
  EXPECT_EQ(evaluation_message([&] {
              inertia(dataset, centroids, Labels{0, 0, -1});
            }),
            "line: the label of row 2 (counted from 0) is -1, not in 0 to 1");
  EXPECT_EQ(evaluation_message([&] {
              inertia(dataset, centroids, Labels{0, 0});
            }),
            "line: there are 2 labels for 3 samples");
  EXPECT_EQ(evaluation_message([&] {
              inertia(dataset, std::vector<double>{}, Labels{0, 0, 0});
            }),
            "line: 0 values of centroids are not a whole number of rows of 1 feature");
}

TEST(CheckLabels, AcceptsTheDefinition) {
  // 5 is equidistant from 0 and 10: the tie goes to the lowest index.
  const LabelCheck check =
      check_labels(line({1, 5, 9}), std::vector<double>{0, 10}, Labels{0, 0, 1});
  EXPECT_EQ(check.wrong, 0);
  EXPECT_EQ(check.first_wrong, -1);
  EXPECT_EQ(check.worst_ratio, 1);
}

TEST(CheckLabels, CountsATieAsWrongAtRatioOne) {
  const LabelCheck check =
      check_labels(line({1, 5, 9}), std::vector<double>{0, 10}, Labels{0, 1, 1});
  EXPECT_EQ(check.wrong, 1);
  EXPECT_EQ(check.first_wrong, 1);
  EXPECT_EQ(check.worst_ratio, 1);
}

TEST(CheckLabels, GivesTheWorstRatio) {
  const LabelCheck check =
      check_labels(line({1, 4, 8}), std::vector<double>{0, 10}, Labels{0, 1, 0});
  EXPECT_EQ(check.wrong, 2);
  EXPECT_EQ(check.first_wrong, 1);
  EXPECT_EQ(check.worst_ratio, 64.0 / 4);
}

TEST(CheckLabels, IsInfiniteWhereTheNearestIsAtDistanceZero) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> centroids = {0, 10, 10};
  EXPECT_EQ(check_labels(line({10}), centroids, Labels{0}).worst_ratio, infinity);
  EXPECT_EQ(check_labels(line({10}), centroids, Labels{2}).worst_ratio, 1);
  EXPECT_EQ(check_labels(line({9}), centroids, Labels{3}).worst_ratio, infinity);
  EXPECT_EQ(check_labels(line({9}), centroids, Labels{-1}).worst_ratio, infinity);
}

TEST(CheckLabels, FindsEveryWrongLabel) {
  const std::int64_t n = 300, d = 5, k = 6;
  const Dataset dataset = wave_samples<float>(n, d);
  const std::vector<double> centroids = scattered_centroids(k, d);
  Labels labels;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int32_t nearest = 0;
    long double least = std::numeric_limits<long double>::infinity();
    for (std::int64_t c = 0; c < k; ++c) {
      long double sum = 0;
      for (std::int64_t j = 0; j < d; ++j) {
        const long double difference = static_cast<long double>(dataset.matrix().at(i, j)) -
                                       centroids[static_cast<std::size_t>(c * d + j)];
        sum += difference * difference;
      }
      if (sum < least) {
        least = sum;
        nearest = static_cast<std::int32_t>(c);
      }
    }
    labels.push_back(nearest);
  }
  EXPECT_EQ(check_labels(dataset, centroids, labels).wrong, 0);
  for (std::size_t i = 7; i < labels.size(); i += 10) {
    labels[i] = labels[i] == 0 ? 1 : labels[i] - 1;
  }
  const LabelCheck check = check_labels(dataset, centroids, labels);
  EXPECT_EQ(check.wrong, 30);
  EXPECT_EQ(check.first_wrong, 7);
  EXPECT_GT(check.worst_ratio, 1);
}

// Samples 0, 1, ..., k - 1, 0, 1, ... on k centroids at 0, 1, ..., k - 1, with correct labels.
struct Comb {
  Comb(std::int64_t n, std::int64_t k) : dataset(values(n, k)) {
    for (std::int64_t c = 0; c < k; ++c) centroids.push_back(static_cast<double>(c));
    for (std::int64_t i = 0; i < n; ++i) labels.push_back(static_cast<std::int32_t>(i % k));
  }
  static Dataset values(std::int64_t n, std::int64_t k) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i % k));
    return Dataset("comb", Matrix::from_values(std::move(values), n, 1));
  }
  Dataset dataset;
  std::vector<double> centroids;
  Labels labels;
};

TEST(CheckLabels, FindsOneWrongLabelInAMillion) {
  Comb comb(1'000'000, 5);
  EXPECT_EQ(check_labels(comb.dataset, comb.centroids, comb.labels).wrong, 0);
  comb.labels[777'777] ^= 1;
  const LabelCheck check = check_labels(comb.dataset, comb.centroids, comb.labels);
  EXPECT_EQ(check.samples, 1'000'000);
  EXPECT_EQ(check.wrong, 1);
  EXPECT_EQ(check.first_wrong, 777'777);
}

// One label in 10000 is wrong; of 200000 labels some 20 are.
TEST(CheckLabels, FindsFewWrongLabelsInASample) {
  Comb comb(1'000'000, 5);
  for (std::size_t i = 4321; i < comb.labels.size(); i += 10'000) comb.labels[i] ^= 1;
  const LabelCheck check =
      check_labels(comb.dataset, comb.centroids, comb.labels, {.samples = 200'000});
  EXPECT_EQ(check.samples, 200'000);
  EXPECT_GE(check.wrong, 10);
  EXPECT_LE(check.wrong, 40);
  EXPECT_EQ(check.first_wrong % 10'000, 4321);
}

TEST(CheckLabels, ComparesASampleIfTheTimeIsShort) {
  const Comb comb(100'000, 5);
  const auto compared = [&](const LabelCheckOptions& options) {
    return check_labels(comb.dataset, comb.centroids, comb.labels, options).samples;
  };
  EXPECT_EQ(compared({.seconds = 1e-12}), kMinSampledLabels);
  EXPECT_EQ(compared({.seconds = 1e9}), 100'000);
  EXPECT_EQ(compared({.samples = 70, .seconds = 1e-12}), 70);
  EXPECT_EQ(compared({.samples = 200'000}), 100'000);
}

TEST(CheckLabels, TellsHowFarItIs) {
  const Comb comb(100'000, 5);
  std::vector<std::int64_t> reports;
  LabelCheckOptions options;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 100'000);
    reports.push_back(done);
  };
  check_labels(comb.dataset, comb.centroids, comb.labels, options);
  EXPECT_GT(reports.size(), 2u);
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  EXPECT_EQ(reports.back(), 100'000);
}

TEST(CheckLabels, IsCancelled) {
  const Comb comb(100'000, 5);
  EXPECT_THROW(check_labels(comb.dataset, comb.centroids, comb.labels,
                            {.threads = 1, .stop = [] { return true; }}),
               Cancelled);
}

// Expected values from sklearn.metrics.adjusted_rand_score, version 1.9.1.
TEST(AdjustedRandIndex, AgreesWithScikitLearn) {
  EXPECT_DOUBLE_EQ(adjusted_rand_index(Labels{0, 0, 1, 1}, Labels{0, 0, 1, 2}), 0.5714285714285714);
  EXPECT_DOUBLE_EQ(adjusted_rand_index(Labels{0, 0, 1, 1}, Labels{0, 1, 0, 1}), -0.5);
  EXPECT_DOUBLE_EQ(adjusted_rand_index(Labels{0, 0, 1, 1}, Labels{0, 0, 0, 0}), 0.0);
  Labels a, b;
  for (std::int32_t i = 0; i < 200; ++i) {
    a.push_back(i * i % 7);
    b.push_back((i * 3 + i / 5) % 5);
  }
  EXPECT_NEAR(adjusted_rand_index(a, b), -0.013861854199209156, 1e-16);
  EXPECT_NEAR(adjusted_rand_index(b, a), -0.013861854199209156, 1e-16);
  for (std::int32_t i = 0; i < 200; ++i) {
    a[static_cast<std::size_t>(i)] = i / 20;
    b[static_cast<std::size_t>(i)] = (i + 7) / 20;
  }
  EXPECT_DOUBLE_EQ(adjusted_rand_index(a, b), 0.48596173296740564);
}

TEST(AdjustedRandIndex, OfDegenerateLabellings) {
  EXPECT_EQ(adjusted_rand_index(Labels{}, Labels{}), 1);
  EXPECT_EQ(adjusted_rand_index(Labels{0}, Labels{5}), 1);
  EXPECT_EQ(adjusted_rand_index(Labels{0, 0, 0, 0}, Labels{7, 7, 7, 7}), 1);
  EXPECT_EQ(adjusted_rand_index(Labels{0, 1, 2, 3}, Labels{3, 1, 0, 2}), 1);
  EXPECT_EQ(adjusted_rand_index(Labels{0, 0, 0, 0}, Labels{0, 1, 2, 3}), 0);
}

TEST(AdjustedRandIndex, CountsPairsBeyond64Bits) {
  // Pair counts near 4e12, products near 1e25.
  Labels a, b;
  for (std::int32_t i = 0; i < 2000000; ++i) {
    a.push_back(i % 2);
    b.push_back(i % 2 == 0 ? 1000000000 : 5);
  }
  EXPECT_EQ(adjusted_rand_index(a, b), 1);
  b[0] = 5;
  EXPECT_NEAR(adjusted_rand_index(a, b), 1 - 2e-6, 1e-11);
}

TEST(AdjustedRandIndex, LeavesOutSamplesWithoutAClass) {
  EXPECT_EQ(adjusted_rand_index(Labels{0, -1, 0, 1, 1, -1}, Labels{1, 1, 1, 0, 0, 0}), 1);
}

TEST(AdjustedRandIndex, RefusesDifferentSizes) {
  EXPECT_EQ(evaluation_message([] {
              adjusted_rand_index(Labels{0, 1}, Labels{0});
            }),
            "labellings of 2 and of 1 samples cannot be compared");
}

TEST(EncodeClasses, ByFirstAppearance) {
  const std::vector<std::string> classes = {"rose", "iris", "rose", "", "iris", "Iris"};
  EXPECT_EQ(encode_classes(classes), (Labels{0, 1, 0, -1, 1, 2}));
  EXPECT_TRUE(encode_classes({}).empty());
  EXPECT_EQ(encode_classes(std::vector<std::string>{"", "b", ""}), (Labels{-1, 0, -1}));
}

}  // namespace
}  // namespace lloyd
