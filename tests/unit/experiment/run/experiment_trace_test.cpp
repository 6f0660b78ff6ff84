// Traces and replays of fits: observation, storage, refusals.
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>

#include "experiment/run/resume.hpp"
#include "experiment/run/tracing_runner.hpp"
#include "unit/support/experiment_fake_run.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd::experiment {
namespace {

using nlohmann::ordered_json;

class ExperimentTrace : public testing::Test {
 protected:
  // Begins a run of this experiment.
  void make(const std::string& text) {
    tracing_.reset();
    trials_.reset();
    plan_ = fake::plan_of(text, datasets_);
    trials_.emplace(plan_, datasets_, observer_, "run", Machine());
    tracing_.emplace(plan_, *trials_, *trials_,
                     [&](const std::string& note) { notes_.push_back(note); });
  }
  Record run(std::size_t variant, std::int64_t repeat) {
    return tracing_->run(plan_.fit(0, variant), repeat);
  }

  fake::Switch observer_;
  DatasetCache datasets_;
  Plan plan_;
  std::vector<std::string> notes_;
  std::optional<InProcessRunner> trials_;
  std::optional<TracingRunner> tracing_;
};

constexpr const char* kTraceConfig = R"(
dataset: {blobs: {samples: 3000, features: 2, centers: 5}}
clusters: 5
stop: {iterations: 40}
backends: [openmp, sequential, absent]
baseline: sequential
repeats: 2
trace: true
)";

TEST_F(ExperimentTrace, IsLeftByTheLastRepeatAndEndsWhereTheFitDid) {
  make(kTraceConfig);
  EXPECT_FALSE(run(0, 0).trace.has_value());
  const Record record = run(0, 1);
  ASSERT_TRUE(record.trace.has_value());
  const Trace& trace = *record.trace;
  ASSERT_EQ(trace.inertia.size(), 41u);
  EXPECT_EQ(trace.elapsed_ms.size(), 41u);
  EXPECT_EQ(trace.shift.size(), 40u);
  EXPECT_EQ(trace.elapsed_ms.front(), 0);
  EXPECT_TRUE(std::is_sorted(trace.elapsed_ms.begin(), trace.elapsed_ms.end()));
  EXPECT_TRUE(std::is_sorted(trace.inertia.rbegin(), trace.inertia.rend()));
  EXPECT_EQ(trace.inertia.back(), record.fit->inertia);
  EXPECT_EQ(trace.inertia[1], record.after_one->inertia);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(ExperimentTrace, TheBaselineLeavesTheReplay) {
  make(kTraceConfig);
  EXPECT_TRUE(run(1, 1).trace->replay.has_value());
  EXPECT_FALSE(run(0, 1).trace->replay.has_value());
}

TEST_F(ExperimentTrace, TheFirstThatIsTracedLeavesAReplayToo) {
  make(kTraceConfig);
  EXPECT_TRUE(run(0, 1).trace->replay.has_value()) << "the baseline may fail to be traced";
  EXPECT_TRUE(run(1, 1).trace->replay.has_value());
}

TEST_F(ExperimentTrace, IsMadeOnRequestOnly) {
  make(std::string(kTraceConfig) + "sweep: {clusters: [5]}\n");
  EXPECT_TRUE(run(1, 1).trace.has_value());
  std::string without = kTraceConfig;
  without.replace(without.find("trace: true"), 11, "trace: false");
  make(without);
  EXPECT_FALSE(run(1, 1).trace.has_value());
}

// The labels of all frames, from those of the first and the changes.
std::vector<std::vector<int>> labels_of(const Replay& replay) {
  std::vector<std::vector<int>> frames = {replay.labels.front()};
  for (std::size_t f = 1; f < replay.labels.size(); ++f) {
    frames.push_back(frames.back());
    const std::vector<int>& changes = replay.labels[f];
    for (std::size_t i = 0; i < changes.size(); i += 2) {
      frames.back()[static_cast<std::size_t>(changes[i])] = changes[i + 1];
    }
  }
  return frames;
}

TEST_F(ExperimentTrace, ReplayShowsSamplesWithTheNearestCentroid) {
  make(kTraceConfig);
  const Record record = run(1, 1);
  const Replay& replay = record.trace->replay.value();
  EXPECT_FALSE(replay.components);
  ASSERT_EQ(replay.points.size(), 2 * static_cast<std::size_t>(kReplaySamples));
  ASSERT_EQ(replay.iterations.size(), 31u) << "30 and the last";
  EXPECT_EQ(replay.iterations[29], 29);
  EXPECT_EQ(replay.iterations.back(), 40);
  const std::vector<std::vector<int>> frames = labels_of(replay);
  const auto value = [&](int place, std::size_t axis) {
    return replay.low[axis] + (replay.high[axis] - replay.low[axis]) * place / kReplayGrid;
  };
  for (std::size_t f = 0; f < frames.size(); ++f) {
    int wrong = 0;
    for (std::size_t i = 0; i < frames[f].size(); ++i) {
      const auto distance = [&](std::size_t c) {
        double sum = 0;
        for (std::size_t a = 0; a < 2; ++a) {
          sum += std::pow(
              value(replay.points[2 * i + a], a) - value(replay.centroids[f][2 * c + a], a), 2);
        }
        return std::sqrt(sum);
      };
      const auto own = static_cast<std::size_t>(frames[f][i]);
      for (std::size_t c = 0; c < 5; ++c) wrong += distance(c) < distance(own) - 0.02;
    }
    EXPECT_EQ(wrong, 0) << "frame " << f << ": by more than the grid is wide";
  }
}

TEST_F(ExperimentTrace, ReplayOfMoreFeaturesIsAlongPrincipalComponents) {
  std::string config = kTraceConfig;
  config.replace(config.find("features: 2"), 11, "features: 6");
  make(config);
  const Record record = run(1, 1);
  const Replay& replay = record.trace->replay.value();
  EXPECT_TRUE(replay.components);
  EXPECT_EQ(replay.axes[0], "component 1");
  EXPECT_GT(replay.share[0], replay.share[1]);
  EXPECT_GT(replay.share[1], 0);
  config.replace(config.find("features: 6"), 11, "features: 1");
  make(config);
  EXPECT_FALSE(run(1, 1).trace->replay.has_value());
}

TEST_F(ExperimentTrace, WithoutABaselineTheFirstThatRunsLeavesTheReplay) {
  make(R"(
dataset: {blobs: {samples: 100, features: 2}}
backends: [absent, openmp, sequential]
repeats: 1
trace: true
)");
  EXPECT_TRUE(run(1, 0).trace->replay.has_value());
  EXPECT_FALSE(run(2, 0).trace->replay.has_value());
}

TEST_F(ExperimentTrace, ComesBackFromItsText) {
  make(kTraceConfig);
  Record record = run(1, 1);
  const std::string text = to_json(record).dump();
  EXPECT_EQ(to_json(record_from_json(ordered_json::parse(text))).dump(), text);
  record.trace.reset();
  EXPECT_FALSE(record_from_json(to_json(record)).trace.has_value());
}

// Returns the traces that a test provides.
class FakeTracer final : public SharedStartRunner {
 public:
  FakeTracer(const Plan& plan, DatasetCache& datasets, Observer& observer,
             std::function<Trace()> make)
      : SharedStartRunner(plan, observer, "run", {}), datasets_(datasets), make_(std::move(make)) {}

  void finish(const std::function<void(const std::string&)>&) override {}

 private:
  const Dataset& dataset(const DatasetSetting& setting) override {
    dataset_ = datasets_.get(setting);
    return *dataset_;
  }
  TrialOutcome attempt(const Task&, Record&) override { throw Error("only traces are made here"); }
  Trace watch(const TraceTask&) override { return make_(); }

  DatasetCache& datasets_;
  std::shared_ptr<const Dataset> dataset_;
  std::function<Trace()> make_;
};

TEST_F(ExperimentTrace, OneThatMakesTheRecordTooLongIsLeftOut) {
  make(kTraceConfig);
  std::size_t iterations = 1;
  InProcessRunner trials(plan_, datasets_, observer_, "run", {});
  FakeTracer tracer(plan_, datasets_, observer_, [&] {
    return Trace{{}, {}, std::vector<double>(iterations, 1.0 / 3), {}};
  });
  TracingRunner tracing(plan_, trials, tracer,
                        [&](const std::string& text) { notes_.push_back(text); });
  EXPECT_TRUE(tracing.run(plan_.fit(0, 1), 1).trace.has_value());
  EXPECT_EQ(notes_, std::vector<std::string>());
  iterations = 2'000'000;  // 19 bytes each
  const Record record = tracing.run(plan_.fit(0, 1), 1);
  EXPECT_EQ(record.status, TrialStatus::ok);
  EXPECT_FALSE(record.trace.has_value());
  EXPECT_EQ(notes_, (std::vector<std::string>{
                        "sequential: no trace: one of 2000000 iterations takes 36 MiB in the "
                        "record, at most 32 MiB are kept"}));
}

TEST_F(ExperimentTrace, AnInterruptWhileTheLastOneIsMadeLeavesItToAResumedRun) {
  make("{dataset: {blobs: {samples: 50}}, backends: [sequential], repeats: 2, trace: true}");
  InProcessRunner trials(plan_, datasets_, observer_, "run", {});
  FakeTracer tracer(plan_, datasets_, observer_, []() -> Trace { throw Cancelled(); });
  TracingRunner tracing(plan_, trials, tracer,
                        [&](const std::string& text) { notes_.push_back(text); });
  RunResult result = fake::run_quietly(plan_, tracing, [](const Record&) {});
  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(notes_, (std::vector<std::string>{
                        "sequential: no trace: interrupted; --resume makes the trial again, with "
                        "its trace"}));
  ASSERT_EQ(result.records[0].size(), 2u);
  const Record& last = result.records[0].back();
  EXPECT_EQ(last.status, TrialStatus::cancelled);
  EXPECT_EQ(last.reason, "interrupted while its trace was made");
  const ordered_json json = to_json(last);
  EXPECT_EQ(to_json(record_from_json(json)), json);
  EXPECT_EQ(trials_left(plan_, earlier_trials(std::move(result.records), false)), 1);
}

TEST_F(ExperimentTrace, ContradictionsAreRefused) {
  make(kTraceConfig);
  const Record record = run(1, 1);
  const auto refusal = [&](const char* pointer, const ordered_json& value) {
    ordered_json json = to_json(*record.trace);
    json[ordered_json::json_pointer(pointer)] = value;
    return message_of<InputError>([&] { trace_from_json(json, 5); });
  };
  EXPECT_EQ(refusal("/elapsed_ms", {1, 2}),
            "'trace.elapsed_ms' is a list, not a list of 41 numbers");
  EXPECT_EQ(refusal("/inertia/3", "x"),
            "'trace.inertia' is a list, not a list of numbers and nulls");
  EXPECT_EQ(refusal("/shift", nullptr), "'trace.shift' is null, not a list");
  EXPECT_EQ(refusal("/replay/points/7", 10000),
            "'trace.replay.points' is a list, not a list of integers from 0 to 9999");
  EXPECT_EQ(refusal("/replay/labels/0/0", 5),
            "'trace.replay.labels' is a list, not a list of lists of existing labels and points");
  EXPECT_EQ(refusal("/replay/centroids/2", ordered_json::array({1, 2})),
            "'trace.replay.centroids' is a list, not a list of lists of 5 pairs");
  EXPECT_EQ(refusal("/replay/view", "above"),
            "'trace.replay.view' is 'above', not 'features' or 'principal components'");
}

}  // namespace
}  // namespace lloyd::experiment
