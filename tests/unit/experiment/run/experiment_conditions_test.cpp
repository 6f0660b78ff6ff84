// The conditions of trials, as stored in records.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "experiment/run/monitored_runner.hpp"
#include "unit/support/experiment_fake_run.hpp"

namespace lloyd::experiment {
namespace {

class ExperimentConditions : public testing::Test {
 protected:
  // The variable would hide devices from the sensors.
  ExperimentConditions() { ::unsetenv("CUDA_VISIBLE_DEVICES"); }

  Record run(const char* backend, const char* nvml) {
    const std::string text =
        std::string("{dataset: {blobs: {samples: 50}}, backends: [") + backend + "], repeats: 1}";
    const Plan plan = fake::plan_of(text, datasets_);
    InProcessRunner trials(plan, datasets_, observer_, "run", this_machine());
    MonitoredRunner runner(
        plan, trials, [] { return true; }, nvml);
    return runner.run(plan.fits.front(), 0);
  }

  DatasetCache datasets_;
  fake::Switch observer_;
};

TEST_F(ExperimentConditions, OfATrialOnTheProcessor) {
  Record record = run("sequential", LLOYD_FAKE_NVML "new.so");
  ASSERT_TRUE(record.conditions);
  EXPECT_FALSE(record.conditions->gpu) << "its backend uses none";
  EXPECT_GE(record.conditions->before.load, 0);
  EXPECT_GT(record.conditions->after.memory_available_bytes, 0);
  ASSERT_TRUE(record.process);
  EXPECT_GE(record.process->threads, 1);
  EXPECT_FALSE(record.machine.libraries.empty());
  record.process->processor = 3;
  const nlohmann::ordered_json json = to_json(record);
  EXPECT_EQ(to_json(record_from_json(json)), json);
  EXPECT_EQ(json.at("process").at("processor"), 3);
  EXPECT_TRUE(json.at("conditions").at("gpu").is_null());
}

TEST_F(ExperimentConditions, OfATrialOnAGpu) {
  const Record record = run("gpu", LLOYD_FAKE_NVML "new.so");
  ASSERT_TRUE(record.conditions && record.conditions->gpu);
  const GpuConditions& gpu = *record.conditions->gpu;
  EXPECT_EQ(gpu.name, "NVIDIA H200");
  EXPECT_EQ(gpu.driver, "570.124.06");
  EXPECT_EQ(gpu.cuda, "12.8");
  EXPECT_EQ(gpu.before.temperature_c, 42);
  EXPECT_EQ(gpu.after.power_w, 123.456);
  const nlohmann::ordered_json json = to_json(record);
  EXPECT_EQ(json.at("conditions").at("gpu").at("after").at("throttle"),
            nlohmann::ordered_json({"sw_power_cap"}));
  EXPECT_EQ(to_json(record_from_json(json)), json);
}

TEST_F(ExperimentConditions, AreLeftOutWhereTheDriverDoesNotAnswer) {
  for (const char* library : {LLOYD_FAKE_NVML "mute.so", "/none/libnvidia-ml.so.1"}) {
    const Record record = run("gpu", library);
    EXPECT_EQ(record.status, TrialStatus::ok) << record.reason;
    ASSERT_TRUE(record.conditions && record.conditions->gpu);
    EXPECT_EQ(record.conditions->gpu->driver, "");
    EXPECT_FALSE(record.conditions->gpu->before.sm_mhz.has_value());
    const nlohmann::ordered_json json = to_json(record);
    EXPECT_TRUE(json.at("conditions").at("gpu").at("before").at("sm_mhz").is_null());
    EXPECT_EQ(to_json(record_from_json(json)), json);
  }
}

// Runs trials with another runner. `clocks` are the SM clocks right after the attempts, in MHz; the
// last one stays.
class ThrottledRunner final : public TrialRunner {
 public:
  ThrottledRunner(TrialRunner& runner, std::vector<int> clocks)
      : runner_(runner), clocks_(std::move(clocks)) {}

  Record run(const PlannedFit& fit, std::int64_t repeat) override {
    const std::size_t last = clocks_.size() - 1;
    ::setenv("FAKE_NVML_SM_MHZ", std::to_string(clocks_[std::min(attempts++, last)]).c_str(), 1);
    Record record = runner_.run(fit, repeat);
    if (fails) record.status = TrialStatus::failed;
    return record;
  }

  std::size_t attempts = 0;
  bool fails = false;

 private:
  TrialRunner& runner_;
  std::vector<int> clocks_;
};

class ThrottledTrials : public testing::Test {
 protected:
  ThrottledTrials() { ::unsetenv("CUDA_VISIBLE_DEVICES"); }
  ~ThrottledTrials() override {
    ::unsetenv("FAKE_NVML_SM_MHZ");
    ::unsetenv("FAKE_NVML_REASONS");
  }

  // Runs `repeats` trials of a backend on a GPU whose maximum clock is 2000 MHz.
  std::vector<Record> run(std::vector<int> clocks, std::int64_t repeats = 1,
                          const std::string& keys = "silhouette: true") {
    const Plan plan = fake::plan_of("{dataset: {blobs: {samples: 50}}, backends: [gpu], repeats: " +
                                        std::to_string(repeats) + ", " + keys + "}",
                                    datasets_);
    InProcessRunner trials(plan, datasets_, observer_, "run", this_machine());
    ThrottledRunner throttled(trials, std::move(clocks));
    throttled.fails = fails_;
    const auto pause = [this] {
      ++pauses_;
      return !interrupted_;
    };
    MonitoredRunner runner(plan, throttled, pause, nvml_);
    std::vector<Record> records;
    for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
      records.push_back(runner.run(plan.fits.front(), repeat));
    }
    attempts_ = throttled.attempts;
    return records;
  }

  static std::int64_t discarded(const Record& record) {
    return record.conditions.value().gpu.value().discarded;
  }

  DatasetCache datasets_;
  fake::Switch observer_;
  const char* nvml_ = LLOYD_FAKE_NVML "new.so";
  bool fails_ = false;
  bool interrupted_ = false;
  int pauses_ = 0;
  std::size_t attempts_ = 0;
};

TEST_F(ThrottledTrials, AreRunAgainAfterAPause) {
  const Record record = run({1499, 1499, 1500}).front();
  EXPECT_EQ(record.status, TrialStatus::ok);
  EXPECT_EQ(discarded(record), 2);
  EXPECT_EQ(pauses_, 2);
  EXPECT_EQ(record.conditions->gpu->after.sm_mhz, 1500);
  // Only the first attempt, which was discarded, checks the result.
  EXPECT_TRUE(record.fit->check);
  EXPECT_TRUE(std::isfinite(record.fit->simplified_silhouette));
  EXPECT_EQ(record.fit->silhouette_samples, 50);
  EXPECT_TRUE(record.after_one);
  const nlohmann::ordered_json json = to_json(record);
  EXPECT_EQ(json.at("conditions").at("gpu").at("discarded"), 2);
  EXPECT_EQ(to_json(record_from_json(json)), json);
}

TEST_F(ThrottledTrials, AreNotRepeatedIfTheGpuStaysThrottled) {
  const std::vector<Record> records = run({1000}, 3);
  EXPECT_EQ(discarded(records[0]), 3);
  EXPECT_EQ(discarded(records[1]), 0);
  EXPECT_EQ(discarded(records[2]), 0);
  EXPECT_EQ(attempts_, 6u);
  EXPECT_EQ(records[0].status, TrialStatus::ok);
}

TEST_F(ThrottledTrials, AreKeptIfTheExperimentSaysSo) {
  EXPECT_EQ(discarded(run({1000}, 1, "repeat_throttled: false").front()), 0);
  EXPECT_EQ(attempts_, 1u);
}

TEST_F(ThrottledTrials, AreKeptIfTheRunIsInterrupted) {
  interrupted_ = true;
  const Record record = run({1000}).front();
  EXPECT_EQ(record.status, TrialStatus::ok);
  EXPECT_EQ(discarded(record), 0);
  EXPECT_EQ(attempts_, 1u);
}

TEST_F(ThrottledTrials, NeedALowClockAndAReason) {
  run({1500});
  EXPECT_EQ(attempts_, 1u);
  ::setenv("FAKE_NVML_REASONS", "1", 1);  // idle
  run({1000});
  EXPECT_EQ(attempts_, 1u);
  ::unsetenv("FAKE_NVML_REASONS");
  nvml_ = LLOYD_FAKE_NVML "old.so";  // does not know the maximum clock
  run({1000});
  EXPECT_EQ(attempts_, 1u);
}

TEST_F(ThrottledTrials, AreNotRepeatedIfTheyFail) {
  fails_ = true;
  EXPECT_EQ(run({1000}).front().status, TrialStatus::failed);
  EXPECT_EQ(attempts_, 1u);
}

TEST(PauseForCooling, EndsWithTheRun) {
  EXPECT_FALSE(pause_for_cooling([] { return true; }));
}

}  // namespace
}  // namespace lloyd::experiment
