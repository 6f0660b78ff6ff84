// Resuming: what an earlier run of the same plan left in a file of records, to go on with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.hpp"
#include "experiment/record/record.hpp"
#include "experiment/record/record_reader.hpp"
#include "experiment/run/run_plan.hpp"

namespace lloyd::experiment {

/// The last run of an experiment in a file, beside a plan of that experiment.
struct LastRun {
  std::string id;
  /// What differs from the plan, in words; then the run cannot be resumed. Else empty.
  std::string difference;
  /// By planned fit, in the order of Plan::fits; empty where there is a difference.
  std::vector<std::vector<Record>> records;
};

/// The last run of the plan's experiment that has the same plan on the same machine, else the last
/// one with what differs; none where no record is of this experiment.
std::optional<LastRun> find_last_run(std::vector<RecordedRun> runs, const Plan& plan,
                                     const Machine& machine);

/// What differs between a record of a trial and what the plan says of the same trial now: settings,
/// backend, published values, the kind of process and the processors that it runs on, and all of
/// the machine that should not change but its memory, whose size moves with the kernel. Empty when
/// nothing does. What one of them does not know, as records of earlier versions, is not compared.
/// The limits of a trial, of time and memory, may differ.
std::string find_difference(const Record& before, const Plan& plan, const Machine& machine);

/// The trials of a run that need not be made again: those with an outcome. A failure is one, unless
/// `retry_failed`; a trial that was cancelled, or not come to, has none.
EarlierTrials earlier_trials(std::vector<std::vector<Record>> records, bool retry_failed);

/// Trials that are not done: the repeats of the plan, and what left_of_further_rounds() says.
std::int64_t trials_left(const Plan& plan, const EarlierTrials& earlier);

}  // namespace lloyd::experiment
