// Faster, slower or the same: the rule on small examples, and on recorded runs of two identical
// backends.
#include <cmath>
#include <filesystem>
#include <ostream>

#include <gtest/gtest.h>

#include "compare_calibration/resample.hpp"
#include "experiment/statistics/statistics.hpp"
#include "experiment/statistics/verdict.hpp"

namespace lloyd::experiment {
namespace {

// Ten times around `middle`, from 1 % below to 1 % above.
Timings steady(double middle, std::int64_t rounds = 10) {
  Timings timings;
  for (std::int64_t i = 0; i < rounds; ++i) {
    timings[i] = middle * (0.99 + 0.02 * static_cast<double>(i * 7 % 10) / 9);
  }
  return timings;
}

TEST(ExperimentVerdict, GoesByTheWholeInterval) {
  EXPECT_EQ(verdict_of({1.1, 1.04, 1.2}), Verdict::slower);
  EXPECT_EQ(verdict_of({1.1, 1.02, 1.2}), Verdict::unclear);
  EXPECT_EQ(verdict_of({0.9, 0.8, 0.97}), Verdict::faster);
  EXPECT_EQ(verdict_of({0.9, 0.8, 0.98}), Verdict::unclear);
  EXPECT_EQ(verdict_of({1, 0.971, 1.029}), Verdict::same);
  EXPECT_EQ(verdict_of({1, 0.969, 1.029}), Verdict::unclear);
}

TEST(ExperimentVerdict, ExchangingTheSidesGivesTheOppositeVerdict) {
  for (const auto& [low, high, verdict, opposite] :
       {std::tuple{0.9702, 0.9707, Verdict::faster, Verdict::slower},
        std::tuple{0.9702, 1.0, Verdict::unclear, Verdict::unclear},
        std::tuple{0.9710, 1.0299, Verdict::same, Verdict::same}}) {
    EXPECT_EQ(verdict_of({low, low, high}), verdict) << low;
    EXPECT_EQ(verdict_of({1 / low, 1 / high, 1 / low}), opposite) << low;
  }
}

TEST(ExperimentVerdict, RunsAreTheSameByTheLimitsOfRounds) {
  const Timings older = {{0, 1.0}, {1, 1.0}, {2, 1.0}, {3, 1.0}, {4, 1.0}};
  Timings newer;
  for (const auto& [round, time] : older) newer[round] = 0.9705 * time;
  EXPECT_EQ(compare_rounds(older, newer).verdict, Verdict::faster);
  EXPECT_EQ(compare_runs(older, newer).verdict, Verdict::unclear);
  EXPECT_EQ(compare_runs(older, newer).reason, "the fastest times agree");
}

TEST(ExperimentVerdict, RoundsArePaired) {
  // Both drift upwards by the same factor, so their ratios are constant.
  Timings older;
  Timings newer;
  for (std::int64_t i = 0; i < 15; ++i) {
    older[i] = 10 + 0.3 * static_cast<double>(i);
    newer[i] = 1.1 * older[i];
  }
  EXPECT_EQ(compare_rounds(older, newer).verdict, Verdict::slower);
  EXPECT_EQ(compare_rounds(newer, older).verdict, Verdict::faster);
  EXPECT_EQ(compare_rounds(older, older).verdict, Verdict::same);
  EXPECT_NEAR(compare_rounds(older, newer).ratio.low, 1.1, 1e-12);
  // As unpaired samples of two runs, they show no significant difference.
  EXPECT_EQ(compare_runs(older, newer).verdict, Verdict::unclear);
}

TEST(ExperimentVerdict, FewSamplesAreInconclusive) {
  const TimeRatio four = compare_rounds(steady(1, 4), steady(2, 4));
  EXPECT_EQ(four.verdict, Verdict::unclear);
  EXPECT_EQ(four.reason, "fewer than 5 timings");
  EXPECT_NEAR(four.ratio.median, 2, 1e-12);
  EXPECT_EQ(compare_rounds(steady(1, 5), steady(2, 5)).verdict, Verdict::slower);
  EXPECT_EQ(compare_runs(steady(1, 4), steady(2, 9)).reason, "fewer than 5 timings");
}

TEST(ExperimentVerdict, WithoutTimesThereIsNoRatio) {
  EXPECT_EQ(compare_rounds({{0, 1.0}}, {{1, 1.0}}).reason, "no round has both");
  EXPECT_EQ(compare_rounds({{0, 0.0}}, {{0, 0.0}}).reason, "too fast to compare");
  EXPECT_EQ(compare_runs({}, {{0, 1.0}}).reason, "no times");
  EXPECT_EQ(compare_runs({{0, 0.0}}, {{0, 1.0}}).reason, "too fast to compare");
  EXPECT_TRUE(std::isnan(compare_runs({}, {}).ratio.median));
}

TEST(ExperimentVerdict, TwoRunsNeedMore) {
  const Timings older = steady(10);
  EXPECT_EQ(compare_rounds(older, steady(10.5)).verdict, Verdict::slower);
  EXPECT_EQ(compare_runs(older, steady(10.5)).reason, "the fastest times agree");
  EXPECT_EQ(compare_runs(older, steady(11)).verdict, Verdict::slower);
  EXPECT_EQ(compare_runs(steady(11), older).verdict, Verdict::faster);
  EXPECT_EQ(compare_runs(older, steady(10.05)).verdict, Verdict::same);
  // Half of the samples are faster, the other half slower.
  Timings both_ways = steady(9, 5);
  for (std::int64_t i = 5; i < 10; ++i) both_ways[i] = 11;
  EXPECT_EQ(compare_runs(older, both_ways).reason, "wide interval");
  // One sample is as fast as before: the others were delayed, or almost all were.
  Timings held_up = steady(10.9);
  held_up[3] = 10.2;
  EXPECT_EQ(compare_runs(older, held_up).reason, "the fastest times agree");
  held_up = steady(15);
  held_up[3] = 10;
  EXPECT_TRUE(compare_runs(older, held_up).reason.starts_with("noisy: median 5"));
}

TEST(ExperimentVerdict, GeometricMeanOfRatios) {
  const MedianInterval one = geometric_mean(std::vector<MedianInterval>{{1.2, 1.1, 1.4}});
  EXPECT_NEAR(one.median, 1.2, 1e-12);
  EXPECT_NEAR(one.low, 1.1, 1e-12);
  EXPECT_NEAR(one.high, 1.4, 1e-12);
  // Four equal intervals give half the width, in logarithms.
  const MedianInterval four =
      geometric_mean(std::vector<MedianInterval>(4, {1, std::exp(-0.2), std::exp(0.1)}));
  EXPECT_NEAR(four.low, std::exp(-0.1), 1e-12);
  EXPECT_NEAR(four.high, std::exp(0.05), 1e-12);
  EXPECT_NEAR(geometric_mean(std::vector<double>{2, 8}), 4, 1e-12);
}

// Some of the results of compare_calibration. For two runs on a busy machine see
// experiment_compare_test.cpp.
struct RecordedRuns {
  const char* file;
  calibration::Kind kind;
  const char* name;
  double found;  // minimum share of 10 % slowdowns that are detected
};

// Used in the test's name.
void PrintTo(const RecordedRuns& runs, std::ostream* stream) {
  *stream << runs.name;
}

class ExperimentVerdictOfRecordedRuns : public testing::TestWithParam<RecordedRuns> {};

TEST_P(ExperimentVerdictOfRecordedRuns, IsRightOfIdenticalBackends) {
  const auto& [file, kind, name, found] = GetParam();
  const calibration::RecordedTimes times = calibration::read_times(
      std::filesystem::path(LLOYD_TESTS_FOLDER) / "compare_calibration" / file);
  const calibration::Shares same = calibration::resample(times, kind, 1, 2000, 1);
  EXPECT_LE(same.faster + same.slower, 0.02);
  EXPECT_GE(calibration::resample(times, kind, 1.1, 2000, 1).slower, found);
}

INSTANTIATE_TEST_SUITE_P(
    , ExperimentVerdictOfRecordedRuns,
    testing::Values(RecordedRuns{"quiet.csv", calibration::Kind::rounds, "OneQuietRun", 0.9},
                    RecordedRuns{"unequal.csv", calibration::Kind::rounds, "OneUnequalRun", 0.9},
                    // Fits as long as a time slice show no difference on a busy machine.
                    RecordedRuns{"busy.csv", calibration::Kind::rounds, "OneBusyRun", 0.8},
                    // The fastest times of two runs may differ by several percent.
                    RecordedRuns{"quiet.csv", calibration::Kind::runs, "TwoQuietRuns", 0.85}),
    [](const auto& runs) { return runs.param.name; });

}  // namespace
}  // namespace lloyd::experiment
