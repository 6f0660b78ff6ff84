// Resuming: finds the records of an earlier run of the same plan, to continue it.
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

/// The last run of an experiment in a file, compared with a plan of that experiment.
struct LastRun {
  std::string id;
  /// The difference from the plan, in words, which prevents resuming; empty if there is none.
  std::string difference;
  /// The repeats that resume it: the plan's, or more if it was begun with or extended to more.
  std::int64_t repeats = 1;
  /// Records by planned fit, in the order of Plan::fits; empty if there is a difference.
  std::vector<std::vector<Record>> records;
};

/// Whether a run that was begun with at most the plan's repeats, and then extended to more, keeps
/// the larger number or is a different run.
enum class ExtendedRepeats { keep, refuse };

/// Returns the last run of the plan's experiment with the same machine and the same plan, except
/// for its repeats: fewer than the plan's are no difference, more are one, see ExtendedRepeats. If
/// there is none, returns the last run with its difference; none if no record belongs to this
/// experiment.
std::optional<LastRun> find_last_run(std::vector<RecordedRun> runs, const Plan& plan,
                                     const Machine& machine,
                                     ExtendedRepeats extended = ExtendedRepeats::keep);

/// Returns the difference between a record and the plan's description of the same trial: settings,
/// backend, published values, the kind of process and its processors, and the properties of the
/// machine except its memory size, which varies with the kernel. Empty if there is none. Repeats
/// are not compared, nor are values that either side lacks, as in records of earlier versions. The
/// time and memory limits of a trial may differ.
std::string find_difference(const Record& before, const Plan& plan, const Machine& machine);

/// Returns the records of a run, and which of its trials need not run again: those with an outcome.
/// A failure is an outcome unless `retry_failed` is true; a cancelled or unreached trial has none.
EarlierTrials earlier_trials(std::vector<std::vector<Record>> records, bool retry_failed);
/// Number of trials of an earlier run whose last outcome is a failure.
std::int64_t failed_trials(const EarlierTrials& earlier);

/// Returns the number of trials to run: the plan's repeats that are not done, and those of
/// left_of_further_rounds().
std::int64_t trials_left(const Plan& plan, const EarlierTrials& earlier);

/// Returns for each variant whether trials of it may be left to run.
std::vector<bool> variants_left(const Plan& plan, const EarlierTrials& earlier);

}  // namespace lloyd::experiment
