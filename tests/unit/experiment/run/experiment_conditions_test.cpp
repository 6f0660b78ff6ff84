// The conditions of trials, as stored in records.
#include <cstdlib>
#include <string>

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
    MonitoredRunner runner(plan, trials, nvml);
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

}  // namespace
}  // namespace lloyd::experiment
