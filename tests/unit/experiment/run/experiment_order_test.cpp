// The order of trials, further rounds, and disturbances derived from timings.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "experiment/plan/trial_order.hpp"
#include "experiment/statistics/bootstrap.hpp"
#include "experiment/summary/noise.hpp"
#include "experiment/summary/plan_text.hpp"
#include "unit/support/experiment_fake_run.hpp"

namespace lloyd::experiment {
namespace {

constexpr const char* kOrderConfig = R"(
experiment: fakes
dataset: {blobs: {samples: 500, features: 3, centers: 9}}
stop: {iterations: 4}
backends: [sequential, openmp: {threads: [1, 2]}, limited, absent]
baseline: sequential
repeats: 8
sweep: {clusters: [8, 9]}
)";

/// Returns given times without running the trials.
class GivenTimes final : public TrialRunner {
 public:
  using Time = std::function<double(const PlannedFit&, std::int64_t repeat)>;
  GivenTimes(const Plan& plan, Time time) : plan_(plan), time_(std::move(time)) {}

  Record run(const PlannedFit& fit, std::int64_t repeat) override {
    Record record = describe_trial(plan_, fit, repeat, "run", {});
    const double ms = time_(fit, repeat);
    if (ms < 0) {
      record.status = TrialStatus::failed;
      record.reason = "given";
      return record;
    }
    record.after_one.emplace();
    Measurements& measured = record.fit.emplace();
    measured.iterations = 4;
    measured.stop_reason = "max_iterations";
    measured.sum_form = "integer64";
    measured.fit_ms = ms;
    measured.loop_ms = ms;
    measured.inertia = 1;
    measured.distances = record.dataset.samples * record.clusters * 5;
    return record;
  }

 private:
  const Plan& plan_;
  Time time_;
};

class ExperimentOrder : public testing::Test {
 protected:
  void make(const std::string& text) { plan_ = fake::plan_of(text, datasets_); }

  RunResult run(GivenTimes::Time time) {
    GivenTimes runner(plan_, std::move(time));
    return fake::run_quietly(plan_, runner, [](const Record&) {});
  }

  std::vector<std::size_t> fits_of(std::size_t setting) const {
    std::vector<std::size_t> fits;
    for (const PlannedTrial& trial : trial_order(plan_, setting)) fits.push_back(trial.fit);
    return fits;
  }

  DatasetCache datasets_;
  Plan plan_;
};

TEST_F(ExperimentOrder, EveryRoundHasEachFitOnce) {
  make(kOrderConfig);
  const std::vector<PlannedTrial> order = trial_order(plan_, 0);
  ASSERT_EQ(order.size(), 4u * 8);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i].order, static_cast<std::int64_t>(i));
    EXPECT_EQ(order[i].repeat, static_cast<std::int64_t>(i / 4));
  }
  for (std::size_t round = 0; round < order.size(); round += 4) {
    std::set<std::size_t> fits;
    for (std::size_t i = 0; i < 4; ++i) fits.insert(order[round + i].fit);
    EXPECT_EQ(fits, (std::set<std::size_t>{0, 1, 2, 3}));  // fit 4 is skipped
  }
  // Two fits of the second setting are skipped.
  EXPECT_EQ(trial_order(plan_, 1).size(), 3u * 8);
  EXPECT_EQ(trial_round(plan_, 1, 20).front().order, 60);
}

TEST_F(ExperimentOrder, FollowsFromTheSeedAlone) {
  make(kOrderConfig);
  const std::vector<std::size_t> first = fits_of(0);
  EXPECT_EQ(fits_of(0), first);
  make(std::string(kOrderConfig) + "order_seed: 1\n");
  EXPECT_NE(fits_of(0), first);
}

TEST_F(ExperimentOrder, EveryPlaceIsTakenAboutAsOften) {
  make(kOrderConfig);
  plan_.repeats = 4000;
  std::map<std::pair<std::size_t, std::int64_t>, int> counts;  // by fit and position in its round
  for (const PlannedTrial& trial : trial_order(plan_, 0)) ++counts[{trial.fit, trial.order % 4}];
  ASSERT_EQ(counts.size(), 16u);
  // Five standard deviations of a binomial number of 4000 with probability 1/4 are 137.
  for (const auto& [place, count] : counts) EXPECT_NEAR(count, 1000, 137);
}

TEST_F(ExperimentOrder, RecordsHaveTheirPlace) {
  make(kOrderConfig);
  const RunResult result = run([](const PlannedFit&, std::int64_t) { return 1; });
  for (const PlannedTrial& trial : trial_order(plan_, 0)) {
    const Record& record = result.records[trial.fit].at(static_cast<std::size_t>(trial.repeat));
    EXPECT_EQ(record.repeat, trial.repeat);
    EXPECT_EQ(record.order, trial.order);
    EXPECT_EQ(record.plan.order_seed, 0u);
  }
  EXPECT_FALSE(result.records[4].front().order);  // skipped
}

TEST_F(ExperimentOrder, RoundsGoOnUntilIntervalsAreNarrow) {
  make(std::string(kOrderConfig) + "until: {relative_error: 0.02, max_seconds: 1000}\n");
  EXPECT_NE(plan_text(plan_).find("x at least 8 repeats = at least 80 trials\nuntil: every "
                                  "interval within 2.00% of its median, or 16 min 40 s of a "
                                  "setting\n"),
            std::string::npos)
      << plan_text(plan_);
  // In one variant of the first setting, times vary for eight rounds, then are constant.
  const RunResult result = run([](const PlannedFit& fit, std::int64_t repeat) {
    return fit.setting == 0 && fit.variant == 1 && repeat < 8 ? 1 + 0.1 * double(repeat) : 1.0;
  });
  const std::size_t rounds = result.records[1].size();
  EXPECT_GT(rounds, 12u);
  EXPECT_LT(rounds, 40u);
  EXPECT_EQ(result.records[0].size(), rounds);
  EXPECT_EQ(result.records[5].size(), 8u);  // the second setting needs no further rounds
  for (const Record& record : result.records[1]) {
    EXPECT_EQ(to_json(record_from_json(to_json(record))), to_json(record));
  }
  const Summary summary = summarize(result.records);
  EXPECT_LE(summary.rows[1].time_ms.high - summary.rows[1].time_ms.low,
            2 * 0.02 * summary.rows[1].time_ms.median);
  EXPECT_NE(summary_table(summary).find("median of 8 to "), std::string::npos);
}

TEST_F(ExperimentOrder, FewSamplesHaveNoNarrowInterval) {
  for (const int repeats : {1, 2, 5}) {
    std::string config = kOrderConfig;
    config.replace(config.find("repeats: 8"), 10, fmt::format("repeats: {}", repeats));
    make(config + "until: {relative_error: 0.02, max_seconds: 1000}\n");
    const RunResult result = run([](const PlannedFit&, std::int64_t) { return 1.0; });
    EXPECT_EQ(result.records[0].size(), kMinTimingsForInterval) << repeats;
    EXPECT_EQ(result.records[5].size(), kMinTimingsForInterval) << repeats;
  }
}

TEST_F(ExperimentOrder, FurtherRoundsEndWithTheirTime) {
  make(std::string(kOrderConfig) + "until: {max_seconds: 0}\n");
  const RunResult result =
      run([](const PlannedFit&, std::int64_t repeat) { return 1 + double(repeat); });
  EXPECT_EQ(result.records[0].size(), 8u);
}

TEST_F(ExperimentOrder, WhatAlwaysFailsIsNotTriedFurther) {
  make(std::string(kOrderConfig) + "until: {relative_error: 0.02, max_seconds: 1000}\n");
  const RunResult result = run([](const PlannedFit& fit, std::int64_t repeat) {
    if (fit.variant == 2) return -1.0;
    return repeat < 8 ? 1 + 0.1 * double(repeat) : 1.0;
  });
  EXPECT_GT(result.records[0].size(), 12u);
  EXPECT_EQ(result.records[2].size(), 8u);
  EXPECT_EQ(result.failed, 16);
}

TEST_F(ExperimentOrder, SpeedupsAreOfPairedRounds) {
  make(kOrderConfig);
  // Every round is slower than the previous one, by the same factor for all variants; one trial
  // failed.
  const RunResult result = run([](const PlannedFit& fit, std::int64_t repeat) {
    if (fit.variant == 1 && repeat == 2) return -1.0;
    return (1 + double(repeat)) * (fit.variant == 0 ? 3 : 1);
  });
  const Summary summary = summarize(result.records);
  EXPECT_EQ(summary.rows[2].comparison->text, "3.00");
  EXPECT_EQ(summary.rows[2].time_ms.median, 4.5 / 4);
  // If trials failed, the table's row states this instead of the numbers; the summary keeps them.
  EXPECT_EQ(summary.rows[1].comparison->speedup->median, 3);
  EXPECT_EQ(summary.rows[1].timings.size(), 7u);
  const nlohmann::ordered_json row = summary_json(summary, "").at("rows").at(2);
  EXPECT_EQ(row.at("speedup_low"), 3);
  EXPECT_EQ(row.at("speedup_high"), 3);
  EXPECT_EQ(row.at("outliers"), 0);
}

TEST_F(ExperimentOrder, WithoutACommonRoundThereIsNoSpeedup) {
  make(kOrderConfig);
  const RunResult result = run([](const PlannedFit& fit, std::int64_t repeat) {
    return (repeat % 2 == 0) == (fit.variant == 0) ? 1.0 : -1.0;
  });
  EXPECT_EQ(summarize(result.records).rows[1].comparison->text,
            "no round has both this and the baseline");
}

TEST_F(ExperimentOrder, ANoisyMachineIsReported) {
  make(kOrderConfig);
  const auto times = [&](GivenTimes::Time time) {
    const Summary summary = summarize(run(std::move(time)).records);
    EXPECT_EQ(summary_table(summary).find("noisy") != std::string::npos,
              !noise_text(summary).empty());
    return noise_text(summary);
  };
  const auto jitter = [](std::int64_t repeat) { return repeat % 2 == 0 ? 1.0 : -1.0; };
  EXPECT_EQ(times([&](const PlannedFit&, std::int64_t r) { return 1 + 0.03 * jitter(r); }), "");
  EXPECT_EQ(times([&](const PlannedFit& fit, std::int64_t r) {
              return fit.variant == 2 && fit.setting == 1 ? 1 + 0.1 * jitter(r) : 1;
            }),
            "noisy: openmp threads=2 with clusters 9 varies by 15% between rounds");
  EXPECT_EQ(times([&](const PlannedFit& fit, std::int64_t r) {
              return fit.setting == 0 ? 1 + (fit.variant == 0 ? 0.1 : 0.07) * jitter(r) : 1;
            }),
            "noisy: sequential with clusters 8 varies by 15% between rounds, 3 other rows by more "
            "than 5%");
  EXPECT_EQ(times([&](const PlannedFit& fit, std::int64_t r) {
              return fit.setting == 1 && r >= 4 ? 1.06 : 1;
            }),
            "noisy: clusters 9: the later rounds were 6% slower than the earlier");
  // Times of zero, below the resolution of the clock, have no relative changes.
  EXPECT_EQ(times([&](const PlannedFit& fit, std::int64_t r) {
              return fit.variant > 0 && (r < 2 || r > 4) ? 0 : 1;
            }),
            "");
}

TEST_F(ExperimentOrder, RoundsBeginOnEachProcessorInTurn) {
  make(kOrderConfig);
  const std::vector<int> processors = {2, 3, 7};
  std::set<int> first;
  for (plan_.order_seed = 0; plan_.order_seed < 20; ++plan_.order_seed) {
    std::vector<int> drawn;
    for (int round = 0; round < 6; ++round) {
      drawn.push_back(processor_of_round(plan_, 1, round, processors));
      EXPECT_EQ(processor_of_round(plan_, 1, round, {4}), 4);
    }
    EXPECT_EQ(std::set<int>(drawn.begin(), drawn.begin() + 3), std::set<int>({2, 3, 7}));
    EXPECT_TRUE(std::equal(drawn.begin(), drawn.begin() + 3, drawn.begin() + 3));
    first.insert(drawn.front());
  }
  EXPECT_EQ(first.size(), processors.size());
}

TEST_F(ExperimentOrder, OutliersAreCountedAndKept) {
  make(kOrderConfig);
  const RunResult result = run([](const PlannedFit&, std::int64_t repeat) {
    return repeat == 3 ? 9 : 1 + 0.001 * double(repeat);
  });
  const Summary summary = summarize(result.records);
  EXPECT_EQ(summary.rows[0].outliers, 1);
  EXPECT_EQ(summary.rows[0].timings.size(), 8u);
  EXPECT_NE(summary_table(summary).find("outliers"), std::string::npos);
}

}  // namespace
}  // namespace lloyd::experiment
