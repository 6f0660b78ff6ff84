// Disturbances in records: other programs, varying clocks, a throttled GPU.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "experiment/summary/disturbances.hpp"
#include "experiment/summary/noise.hpp"

namespace lloyd::experiment {
namespace {

using Reasons = std::vector<std::string>;

/// An undisturbed trial on a machine of 4 processors.
Record quiet_trial() {
  Record record;
  record.backend.label = "openmp";
  record.dataset.samples = 1;
  record.dataset.dtype = "float32";
  record.clusters = 1;
  record.machine.cores = 4;
  record.process = TrialProcess{4, {}};
  Measurements& fit = record.fit.emplace();
  fit.iterations = 1;
  fit.fit_ms = 1;
  Conditions& conditions = record.conditions.emplace();
  conditions.before.load = 4;
  conditions.before.cpu_mhz = 800;
  conditions.after.cpu_mhz = 3000;
  return record;
}

Record gpu_trial() {
  Record record = quiet_trial();
  GpuConditions& gpu = record.conditions->gpu.emplace();
  gpu.before.sm_mhz = 345;
  gpu.before.throttle = Reasons{"idle"};
  gpu.after.sm_mhz = 1980;
  gpu.after.throttle = Reasons{};
  return record;
}

std::string text_of(const std::vector<std::vector<Record>>& records) {
  std::string text = disturbances_text(find_disturbances(records));
  EXPECT_EQ(noise_text(summarize(records)), text.empty() ? "" : "noisy: " + text);
  return text;
}

std::vector<Record> row_of(const Record& record, std::size_t trials = 10) {
  std::vector<Record> row(trials, record);
  for (std::size_t r = 0; r < trials; ++r) row[r].repeat = static_cast<std::int64_t>(r);
  return row;
}

TEST(ExperimentDisturbances, AQuietMachineHasNone) {
  EXPECT_EQ(text_of({row_of(quiet_trial()), row_of(gpu_trial())}), "");
}

TEST(ExperimentDisturbances, OtherProgramsAreSeenInTheMedianLoad) {
  std::vector<Record> row = row_of(quiet_trial());
  for (std::size_t r = 0; r < 4; ++r) row[r].conditions->before.load = 40;
  row[4].conditions->before.load = 7;  // the median is 5.5
  EXPECT_EQ(text_of({row}), "");
  row[5].conditions->before.load = 7;
  EXPECT_EQ(text_of({row}),
            "other programs used the machine (load before a trial 7.00, of which the run causes "
            "at most 4)");
  const std::optional<MachineLoad> load = machine_load({row});
  ASSERT_TRUE(load);
  EXPECT_TRUE(load->busy());
  EXPECT_EQ(load->median, 7);
  EXPECT_EQ(load->own, 4);
}

TEST(ExperimentDisturbances, TheLoadOfTheRunItselfIsNotADisturbance) {
  Record alone = quiet_trial();
  alone.conditions->before.load = 4.3;  // all processors, plus lloyd run itself
  EXPECT_FALSE(machine_load({row_of(alone)})->busy());
  // More threads than processors, set by a parameter.
  alone.process->threads = 16;
  alone.conditions->before.load = 16.5;
  EXPECT_FALSE(machine_load({row_of(quiet_trial()), row_of(alone, 90)})->busy());
  // A part of a large machine whose other part is used by others.
  Record part = quiet_trial();
  part.machine.physical_cores = 32;
  part.conditions->before.load = 40;
  EXPECT_FALSE(machine_load({row_of(part)})->busy());
  part.conditions->before.load = 49;
  EXPECT_TRUE(machine_load({row_of(part)})->busy());
}

TEST(ExperimentDisturbances, ClocksThatMovedAreThoseWithinARow) {
  // Fewer threads run at higher clocks, which is not a disturbance.
  Record fast = quiet_trial();
  fast.conditions->after.cpu_mhz = 4500;
  EXPECT_EQ(text_of({row_of(quiet_trial()), row_of(fast)}), "");
  std::vector<Record> row = row_of(quiet_trial());
  row[0].conditions->after.cpu_mhz = 2000;
  row[1].conditions->after.cpu_mhz = 2800;  // within a tenth of the usual clock
  row[2].conditions->after.cpu_mhz = 0;     // unknown
  EXPECT_EQ(text_of({row, row_of(fast)}), "") << "one of 19";
  row[3].conditions->after.cpu_mhz = 3500;
  EXPECT_EQ(text_of({row, row_of(fast)}),
            "the processor's clock was more than 10% off its usual after 2 of 19 trials (2000 to "
            "4500 MHz)");
}

TEST(ExperimentDisturbances, TheClockOfAnIdleGpuIsNotADisturbance) {
  std::vector<Record> row = row_of(gpu_trial());
  for (std::size_t r = 0; r < 3; ++r) {
    row[r].conditions->after.cpu_mhz = 900;  // clock of the processor while it waits for the GPU
    row[r].conditions->gpu->after.sm_mhz = 345;
    row[r].conditions->gpu->after.throttle = Reasons{"idle"};
  }
  EXPECT_EQ(text_of({row}), "");
  row[4].conditions->gpu->after.sm_mhz = 1500;
  EXPECT_EQ(text_of({row}),
            "the GPU's clock was more than 10% off its usual after 1 of 7 trials (1500 to 1980 "
            "MHz)");
}

TEST(ExperimentDisturbances, ThrottlingHasItsReasons) {
  std::vector<Record> row = row_of(gpu_trial());
  row[0].conditions->gpu->before.throttle = Reasons{"sw_power_cap"};
  row[0].conditions->gpu->after.throttle = Reasons{"sw_power_cap", "hw_thermal_slowdown"};
  row[1].conditions->gpu->after.throttle = Reasons{"application_clocks", "sw_power_cap"};
  row[2].conditions->gpu->before.throttle.reset();
  row[2].conditions->gpu->after.throttle.reset();
  EXPECT_EQ(text_of({row}),
            "the GPU was throttled in 2 of 9 trials (sw_power_cap, hw_thermal_slowdown)");
}

TEST(ExperimentDisturbances, TrialsThatWereRepeatedAreCounted) {
  std::vector<Record> row = row_of(gpu_trial());
  row[3].conditions->gpu->discarded = 2;
  EXPECT_EQ(text_of({row}), "1 of 10 trials was repeated because the GPU was throttled");
  row[4].conditions->gpu->discarded = 3;
  EXPECT_EQ(text_of({row}), "2 of 10 trials were repeated because the GPU was throttled");
}

TEST(ExperimentDisturbances, AllAreReportedInOneLine) {
  Record record = gpu_trial();
  record.conditions->before.load = 12;
  record.conditions->gpu->after.throttle = Reasons{"hw_power_brake"};
  EXPECT_EQ(text_of({row_of(record)}),
            "other programs used the machine (load before a trial 12.0, of which the run causes "
            "at most 4); the GPU was throttled in 10 of 10 trials (hw_power_brake)");
}

TEST(ExperimentDisturbances, RecordsOfEarlierVersionsHaveNone) {
  Record old = quiet_trial();
  old.conditions.reset();
  old.process.reset();
  EXPECT_FALSE(machine_load({row_of(old)}));
  EXPECT_EQ(text_of({row_of(old)}), "");
  // The same holds for failed trials, and for a system that does not report its load.
  Record failed = quiet_trial();
  failed.conditions->before.load = 99;
  failed.status = TrialStatus::failed;
  Record silent = quiet_trial();
  silent.conditions->before = {};
  silent.conditions->after = {};
  EXPECT_FALSE(machine_load({row_of(failed), row_of(silent)}));
  EXPECT_EQ(text_of({row_of(failed), row_of(silent), row_of(old)}), "");
}

}  // namespace
}  // namespace lloyd::experiment
