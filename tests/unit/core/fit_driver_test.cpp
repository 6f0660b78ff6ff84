// The loop of a fit, driven by passes that follow a script.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/plugin/sdk/fit_driver.hpp>

namespace lloyd {
namespace {

struct ScriptedPasses : FitPasses {
  void call(const std::string& name) {
    calls += name + ' ';
    if (++made == fails_at) throw StatusError(failure, "as the script says");
  }

  void begin() override { call("begin"); }
  void assign() override { call("assign"); }
  double inertia() override {
    call("inertia");
    return 7;
  }
  FinishedIterations update(std::int64_t iteration) override {
    call("update" + std::to_string(iteration));
    const FinishedIterations finished = script.at(updates++);
    values.front() += static_cast<double>(finished.iterations);
    return finished;
  }
  double squared_shift() override {
    call("shift");
    return 3;
  }
  const std::int32_t* labels() override {
    call("labels");
    return &label;
  }
  std::span<const double> centroids() override {
    call("centroids");
    return values;
  }
  void close(FitResult& result) override {
    call("close");
    result.valid |= kValidInertia;
  }
  double transfer_ms() override { return 0x1p-20; }
  void report(FitResult& result) override {
    call("report");
    result.distances = 11;
  }

  std::vector<FinishedIterations> script;
  std::size_t updates = 0;
  std::string calls;
  int made = 0, fails_at = 0;  // number of calls; call that fails, 0: none
  StatusCode failure = StatusCode::cancelled;
  std::int32_t label = 0;
  std::vector<double> values{0};  // the current centroid: the number of finished iterations
};

struct Records : Observer {
  bool on_iteration(const IterationRecord& record) noexcept override {
    iterations.push_back(record.iteration);
    inertias.push_back(record.inertia);
    return record.iteration != refused;
  }
  bool stop_requested() const noexcept override { return false; }
  std::vector<std::int64_t> iterations;
  std::vector<double> inertias;
  std::int64_t refused = 0;
};

struct DrivenFits : testing::Test {
  DrivenFits() {
    spec.clusters = 1;
    spec.max_iterations = 100;
    result.centroids = &centroid;
  }
  StatusCode drive(Observer* observer = nullptr) {
    try {
      drive_fit(spec, observer, passes, result);
    } catch (const StatusError& error) {
      return error.status().code;
    }
    return StatusCode::ok;
  }

  FitSpec spec;
  FitResult result;
  double centroid = -1;
  ScriptedPasses passes;
  Records records;
};

TEST_F(DrivenFits, CallThePassesInOrder) {
  spec.observe = kObserveIterations | kObserveInertia | kObserveLabels | kObserveCentroids;
  passes.script = {{1, 4, 0}, {1, 0, 0}};
  EXPECT_EQ(drive(&records), StatusCode::ok);
  EXPECT_EQ(passes.calls,
            "begin assign inertia update1 shift labels centroids "
            "assign inertia update2 shift labels centroids close centroids report ");
  EXPECT_EQ(records.iterations, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(records.inertias, (std::vector<double>{7, 7}));
  EXPECT_EQ(result.stop_reason, StopReason::labels);
  EXPECT_EQ(result.valid, kValidCentroids | kValidInertia);
  EXPECT_EQ(result.distances, 11);
  EXPECT_EQ(centroid, 2);
}

TEST_F(DrivenFits, CountIterationsThatOneUpdateFinished) {
  passes.script = {{5, 4, 0}, {1, 2, 3}, {4, 0, 0}};
  EXPECT_EQ(drive(), StatusCode::ok);
  EXPECT_EQ(passes.calls,
            "begin assign update1 shift assign update6 shift assign update7 shift close centroids "
            "report ");
  EXPECT_EQ(result.iterations, 10);
  EXPECT_EQ(result.relocations, 3);
  EXPECT_EQ(result.stop_reason, StopReason::labels);
}

TEST_F(DrivenFits, ReturnTheLastFinishedCentroidsWhenCancelled) {
  spec.observe = kObserveInertia;
  // Calls: 1 begin, 2 assign, 3 inertia, 4 update, 5 shift, 6 assign, 7 inertia, 8 update, 9 shift,
  // 10 close.
  for (const auto& [fails_at, finished] :
       {std::pair{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 1}, {6, 1}, {7, 1}, {8, 1}, {9, 2}, {10, 2}}) {
    passes = {};
    passes.script = {{1, 4, 0}, {1, 0, 0}};
    passes.fails_at = fails_at;
    EXPECT_EQ(drive(&records), StatusCode::cancelled) << fails_at;
    EXPECT_EQ(result.stop_reason, StopReason::cancelled) << fails_at;
    EXPECT_EQ(result.iterations, finished) << fails_at;
    EXPECT_EQ(centroid, finished) << fails_at;
    EXPECT_EQ(result.valid, kValidCentroids) << fails_at;
    EXPECT_TRUE(passes.calls.ends_with("centroids report ")) << passes.calls;
  }
}

TEST_F(DrivenFits, EndWhenTheObserverRefusesAnIteration) {
  spec.observe = kObserveIterations;
  records.refused = 2;
  passes.script = {{1, 4, 0}, {1, 0, 0}};
  EXPECT_EQ(drive(&records), StatusCode::cancelled);
  EXPECT_EQ(result.iterations, 2);
  EXPECT_EQ(centroid, 2);
  EXPECT_EQ(passes.calls.find("close"), std::string::npos);
}

TEST_F(DrivenFits, PassOnOtherErrors) {
  passes.script = {{1, 4, 0}, {1, 0, 0}};
  passes.fails_at = 3;
  passes.failure = StatusCode::device_error;
  EXPECT_EQ(drive(), StatusCode::device_error);
  EXPECT_EQ(passes.calls, "begin assign update1 ");
  EXPECT_EQ(result.valid, 0u);
}

TEST_F(DrivenFits, SeparateCopiesFromLabellingWhenProfiled) {
  passes.script = {{1, 4, 0}, {1, 4, 0}, {1, 0, 0}};
  drive();
  EXPECT_LT(result.phases.transfer_ms, 0);
  EXPECT_LT(result.phases.update_ms, 0);
  passes.updates = 0;
  spec.profile = 1;
  drive();
  EXPECT_EQ(result.phases.transfer_ms, 3 * 0x1p-20);
  EXPECT_GE(result.phases.update_ms, 0);
}

}  // namespace
}  // namespace lloyd
