// LabelScreen: its candidates against the definition, and checks with the screen against checks
// without it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/evaluation.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/random.hpp>

#include "evaluation/label_screen.hpp"

namespace lloyd {
namespace {

// Samples whose nearest centroids are hard to decide, each problem for another reason.
struct ScreenProblem {
  std::string name;
  std::int64_t samples, features, clusters;
  double unit = 1;        // scale of all values
  double offset = 0;      // distance of all values from 0
  std::int64_t grid = 0;  // values are multiples of unit / grid, which makes ties; 0: any values
};

std::vector<ScreenProblem> screen_problems() {
  return {{"a line", 300, 1, 9},
          {"one centroid", 100, 3, 1},
          {"two centroids", 100, 2, 2},
          {"plane", 500, 2, 40},
          {"ties", 500, 3, 50, 1, 0, 2},
          {"many features", 100, 600, 7},
          {"far away", 300, 4, 20, 1, 1e7},
          {"farther than float32 resolves", 300, 4, 20, 1e-3, 1e9},
          {"ties far away", 300, 2, 30, 1, 1 << 20, 4},
          {"tiny values", 300, 5, 20, 1e-30},
          {"values that float32 flushes", 300, 5, 20, 1e-44},
          {"huge values", 300, 5, 20, 1e17},
          {"squares beyond float32", 300, 5, 20, 1e30}};
}

std::vector<double> screen_values(const ScreenProblem& problem, std::int64_t rows,
                                  std::uint64_t stream) {
  const RandomStream random(11, stream);
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows * problem.features; ++i) {
    const auto draw = static_cast<double>(random.below(1 << 24, static_cast<std::uint64_t>(i)));
    double value = draw / (1 << 24) - 0.5;
    if (problem.grid > 0) {
      value = std::floor(value * static_cast<double>(problem.grid) + 0.5) /
              static_cast<double>(problem.grid);
    }
    values.push_back(problem.offset + problem.unit * value);
  }
  return values;
}

template <class T>
std::vector<T> screen_samples(const ScreenProblem& problem) {
  const std::vector<double> values = screen_values(problem, problem.samples, 1);
  std::vector<T> samples;
  for (const double value : values) samples.push_back(static_cast<T>(value));
  return samples;
}

template <class T>
void expect_nearest_among_candidates(const ScreenProblem& problem) {
  SCOPED_TRACE(problem.name);
  const std::int64_t d = problem.features, k = problem.clusters;
  const std::vector<T> samples = screen_samples<T>(problem);
  const std::vector<double> centroids = screen_values(problem, k, 2);
  const LabelScreen screen(centroids, d);
  LabelScreen::Workspace workspace;
  for (std::int64_t begin = 0; begin < problem.samples; begin += LabelScreen::kTile) {
    const std::int64_t count = std::min(LabelScreen::kTile, problem.samples - begin);
    const T* rows[LabelScreen::kTile] = {};
    for (std::int64_t i = 0; i < count; ++i) rows[i] = samples.data() + (begin + i) * d;
    screen.screen(rows, count, workspace);
    for (std::int64_t i = 0; i < count; ++i) {
      const LabelScreen::Finding& finding = workspace.findings[i];
      if (!finding.screened) continue;
      ASSERT_TRUE(std::is_sorted(finding.candidates.begin(), finding.candidates.end()));
      const Nearest nearest = nearest_centroid(rows[i], centroids.data(), k, d);
      // All centroids at this distance must be candidates.
      for (std::int32_t c = 0; c < k; ++c) {
        if (squared_distance(rows[i], centroids.data() + c * d, d) > nearest.squared_distance) {
          continue;
        }
        EXPECT_TRUE(std::binary_search(finding.candidates.begin(), finding.candidates.end(), c))
            << "sample " << begin + i << ", centroid " << c;
      }
    }
  }
}

TEST(LabelScreen, TheNearestCentroidsAreCandidates) {
  for (const ScreenProblem& problem : screen_problems()) {
    expect_nearest_among_candidates<float>(problem);
    expect_nearest_among_candidates<double>(problem);
  }
}

TEST(LabelScreen, LeavesOutCentroidsBeyondFloat64) {
  constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
  constexpr double kBeyondFloat64 = std::numeric_limits<double>::infinity();
  constexpr double kLargest = std::numeric_limits<double>::max();
  const std::vector<double> sample = {1, 2};
  const double* row = sample.data();
  for (const std::vector<double>& centroids :
       {std::vector<double>{kNotANumber, 0, 1, 2}, std::vector<double>{1, 2, 3, kBeyondFloat64},
        std::vector<double>{kBeyondFloat64, 1e300, -kBeyondFloat64, 0},
        std::vector<double>{1e200, 0, 1, 2},
        // Their running mean is NaN.
        std::vector<double>{kLargest, 1e300, -kLargest, 0, 1, 2}}) {
    const LabelScreen screen(centroids, 2);
    LabelScreen::Workspace workspace;
    screen.screen(&row, 1, workspace);
    EXPECT_FALSE(workspace.findings[0].screened);
  }
}

// The fraction of samples with a single candidate.
double proven_fraction(const ScreenProblem& problem) {
  const std::vector<float> samples = screen_samples<float>(problem);
  const LabelScreen screen(screen_values(problem, problem.clusters, 2), problem.features);
  LabelScreen::Workspace workspace;
  std::int64_t proven = 0;
  for (std::int64_t i = 0; i < problem.samples; ++i) {
    const float* row = samples.data() + i * problem.features;
    screen.screen(&row, 1, workspace);
    const LabelScreen::Finding& finding = workspace.findings[0];
    if (finding.screened && finding.candidates.size() == 1) ++proven;
  }
  return static_cast<double>(proven) / static_cast<double>(problem.samples);
}

TEST(LabelScreen, ProvesMostLabels) {
  EXPECT_GT(proven_fraction({"wide", 2000, 64, 100}), 0.98);
  EXPECT_GT(proven_fraction({"many features", 200, 1000, 50}), 0.95);
  EXPECT_GT(proven_fraction({"far away", 2000, 16, 100, 1000, 1e6}), 0.98);
}

// What check_labels() must return, by the definition.
template <class T>
LabelCheck check_by_the_definition(const std::vector<T>& samples, std::int64_t d,
                                   const std::vector<double>& centroids,
                                   const std::vector<std::int32_t>& labels) {
  const std::int64_t k = std::ssize(centroids) / d;
  LabelCheck check;
  for (std::int64_t i = 0; i < std::ssize(labels); ++i) {
    ++check.samples;
    const T* x = samples.data() + i * d;
    const Nearest nearest = nearest_centroid(x, centroids.data(), k, d);
    const std::int32_t label = labels[static_cast<std::size_t>(i)];
    if (label == nearest.label) continue;
    if (check.wrong++ == 0) check.first_wrong = i;
    double ratio = std::numeric_limits<double>::infinity();
    if (label >= 0 && label < k) {
      const double distance = squared_distance(x, centroids.data() + label * d, d);
      if (distance == nearest.squared_distance) ratio = 1;
      if (distance != nearest.squared_distance && nearest.squared_distance > 0) {
        ratio = distance / nearest.squared_distance;
      }
    }
    check.worst_ratio = std::max(check.worst_ratio, ratio);
  }
  return check;
}

template <class T>
void expect_verdict_of_the_definition(const ScreenProblem& problem) {
  const std::int64_t d = problem.features, k = problem.clusters;
  const std::vector<T> samples = screen_samples<T>(problem);
  const std::vector<double> centroids = screen_values(problem, k, 2);
  const Dataset dataset("samples", Matrix::from_values(samples, problem.samples, d));
  // One in `step` labels is that of the next centroid, which may be at the same distance.
  for (const std::int64_t step : {1, 2, 97, 1000}) {
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < problem.samples; ++i) {
      const T* x = samples.data() + i * d;
      std::int32_t label = nearest_centroid(x, centroids.data(), k, d).label;
      if (i % step == step - 1) label = static_cast<std::int32_t>((label + 1) % k);
      labels.push_back(label);
    }
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(problem.name + ", one in " + std::to_string(step) + ", " +
                   std::to_string(threads) + " threads");
      const LabelCheck expected = check_by_the_definition(samples, d, centroids, labels);
      const LabelCheck check = check_labels(dataset, centroids, labels, {.threads = threads});
      EXPECT_EQ(check.samples, expected.samples);
      EXPECT_EQ(check.wrong, expected.wrong);
      EXPECT_EQ(check.first_wrong, expected.first_wrong);
      EXPECT_EQ(check.worst_ratio, expected.worst_ratio);
    }
  }
}

TEST(LabelScreen, ChecksHaveTheVerdictOfTheDefinition) {
  for (const ScreenProblem& problem : screen_problems()) {
    expect_verdict_of_the_definition<float>(problem);
    expect_verdict_of_the_definition<double>(problem);
  }
}

}  // namespace
}  // namespace lloyd
