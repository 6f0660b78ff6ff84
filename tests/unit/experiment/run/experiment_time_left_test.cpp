// The estimate of a run's remaining time from its trials, even if the first ones are unusual.
#include <string>

#include <gtest/gtest.h>

#include "experiment/run/time_left.hpp"
#include "unit/support/experiment_fake_run.hpp"

namespace lloyd::experiment {
namespace {

// Increasing sizes, as in most sweeps: 180 trials.
constexpr const char* kTimeLeftConfig = R"(
dataset: {blobs: {features: 2, centers: 8}}
clusters: 8
stop: {iterations: 10}
backends: [sequential, openmp: {threads: [1, 2]}]
baseline: sequential
repeats: 20
sweep: {dataset.blobs.samples: [1000, 10000, 100000]}
)";

constexpr double kStart = 20;    // additional seconds of a variant's first trial
constexpr double kRest = 0.002;  // seconds of every trial besides its fit

class ExperimentTimeLeft : public testing::Test {
 protected:
  void make(const std::string& config) { plan_ = fake::plan_of(config, datasets_); }

  /// The time of ten iterations: 0.1 ms each, plus 1, 1.5 or 2 ns per term of a distance.
  double fit_seconds(const PlannedFit& fit) const {
    const double samples = static_cast<double>(plan_.settings[fit.setting].dataset.samples);
    return 10 * (1e-4 + samples * 16 * static_cast<double>(fit.variant + 2) * 0.5e-9);
  }

  /// Adds all trials in their order and calls `look(trial, estimate, truth)` after each; `truth`
  /// excludes future starts. `start_in_fit`: the start counts as part of the timed fit.
  template <class Look>
  void make_trials(bool start_in_fit, const Look& look) {
    double truth = 0;
    for (const PlannedFit& fit : plan_.fits) {
      truth += static_cast<double>(plan_.repeats) * (fit_seconds(fit) + kRest);
    }
    TimeLeft left(plan_);
    EXPECT_LT(left.seconds(), 0);
    std::int64_t trial = 0;
    for (std::size_t s = 0; s < plan_.settings.size(); ++s) {
      for (std::int64_t repeat = 0; repeat < plan_.repeats; ++repeat) {
        for (std::size_t v = 0; v < plan_.variants.size(); ++v) {
          const PlannedFit& fit = plan_.fit(s, v);
          const double start = s == 0 && repeat == 0 ? kStart : 0;
          const double fit_time = fit_seconds(fit) + (start_in_fit ? start : 0);
          left.add(fit, fit_time + kRest + (start_in_fit ? 0 : start), fit_time);
          truth -= fit_seconds(fit) + kRest;
          look(++trial, left.seconds(), truth);
        }
      }
    }
    EXPECT_NEAR(left.seconds(), 0, 1e-9);
  }

  DatasetCache datasets_;
  Plan plan_;
};

TEST_F(ExperimentTimeLeft, StartsAreNotTakenForThePace) {
  make(kTimeLeftConfig);
  ASSERT_EQ(plan_.trials(), 180);
  make_trials(false, [](std::int64_t trial, double estimate, double truth) {
    EXPECT_LT(estimate, 2 * truth + 1e-9) << "after trial " << trial;
    EXPECT_GT(estimate, truth / 2 - 1e-9) << "after trial " << trial;
  });
}

TEST_F(ExperimentTimeLeft, AStartWithinAFitIsForgottenWithTheSecond) {
  make(kTimeLeftConfig);
  make_trials(true, [](std::int64_t trial, double estimate, double truth) {
    if (trial < 6) return;  // by then every variant has two trials
    EXPECT_LT(estimate, 2 * truth + 1e-9) << "after trial " << trial;
    EXPECT_GT(estimate, truth / 2 - 1e-9) << "after trial " << trial;
  });
}

TEST_F(ExperimentTimeLeft, OfAVariantWithoutATrialIsThatOfTheMedian) {
  make("{dataset: {blobs: {}}, backends: [sequential, openmp: {threads: [1, 2, 3]}], repeats: 1}");
  TimeLeft left(plan_);
  left.add(plan_.fit(0, 0), 1000, 1000);
  left.add(plan_.fit(0, 1), 3, 3);
  left.add(plan_.fit(0, 2), 5, 5);
  EXPECT_NEAR(left.seconds(), 5, 1e-9);
}

TEST_F(ExperimentTimeLeft, FailuresTakeTheirTimeWhateverTheSize) {
  make(
      "{dataset: {blobs: {}}, backends: [sequential], repeats: 4, sweep: {dataset.blobs.samples: "
      "[100, 1000000]}}");
  TimeLeft left(plan_);
  left.add(plan_.fit(0, 0), 3, {});
  EXPECT_LT(left.seconds(), 0) << "of the first alone nothing is known";
  left.add(plan_.fit(0, 0), 2, {});
  EXPECT_NEAR(left.seconds(), 6 * 2, 1e-9);
}

TEST_F(ExperimentTimeLeft, WhatAnEarlierRunMadeIsNotLeft) {
  make("{dataset: {blobs: {}}, backends: [sequential], repeats: 10}");
  TimeLeft left(plan_);
  for (int i = 0; i < 7; ++i) left.pass_over(plan_.fit(0, 0));
  left.add(plan_.fit(0, 0), 1, 1);
  EXPECT_NEAR(left.seconds(), 2, 1e-9);
  // Further rounds for narrow intervals are not counted.
  for (int i = 0; i < 5; ++i) left.add(plan_.fit(0, 0), 1, 1);
  EXPECT_EQ(left.seconds(), 0);
}

TEST_F(ExperimentTimeLeft, NoTrialIsExpectedToExceedTheTimeout) {
  make(std::string(kTimeLeftConfig) + "timeout: 2\n");
  TimeLeft left(plan_);
  // The smallest setting takes one second, so the largest would take some 60.
  for (int trial = 0; trial < 3; ++trial) left.add(plan_.fit(0, 0), 1, 1);
  const auto trials = static_cast<double>(plan_.trials());
  EXPECT_GT(left.seconds(), trials);
  EXPECT_LE(left.seconds(), 2 * trials);
}

}  // namespace
}  // namespace lloyd::experiment
