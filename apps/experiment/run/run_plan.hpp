// run_plan: runs the trials of a plan in order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.hpp"
#include "experiment/plan/trial_order.hpp"
#include "experiment/record/record.hpp"
#include "experiment/run/progress.hpp"
#include "experiment/run/trial.hpp"

namespace lloyd::experiment {

/// The results of an earlier run of the same plan that is resumed.
struct EarlierTrials {
  std::vector<std::vector<Record>> records;  ///< by planned fit; empty: no earlier run
  /// True if a trial has an outcome and is not run again.
  std::function<bool(const PlannedFit& fit, std::int64_t repeat)> done =
      [](const PlannedFit&, std::int64_t) { return false; };
};

/// Returns the unfinished trials of the further rounds that an earlier run began for this setting.
/// The time that the earlier run spent on them is unknown, so no other round is started. Returns
/// none if any repeat is unfinished; further rounds then follow as in a new run.
std::optional<std::vector<PlannedTrial>> left_of_further_rounds(const Plan& plan,
                                                                const EarlierTrials& earlier,
                                                                std::size_t setting);

/// All records of a run, and how it ended.
struct RunResult {
  /// Records by planned fit, in the order of Plan::fits; each has at least one.
  std::vector<std::vector<Record>> records;
  std::int64_t failed = 0;  ///< number of failed trials
  bool cancelled = false;
  std::string error;  ///< why records could not be kept; the run ended with this error
};

/// Runs one setting after another, each in the order of trial_order() and, with `until`, in further
/// rounds, so that slow changes of the machine affect all backends alike. Passes each record to
/// `keep` as soon as its trial ends. A fit that is skipped, or not reached before the run is
/// interrupted, gets one record from `describe_unrun`. Ends early if `stop` returns true or `keep`
/// throws Error; later records are not kept. The result includes the records of `earlier`, except
/// those superseded by new ones. Settings that `earlier` completed get no further rounds, see
/// left_of_further_rounds().
RunResult run_plan(const Plan& plan, TrialRunner& runner,
                   const std::function<Record(const PlannedFit&)>& describe_unrun,
                   const std::function<void(const Record&)>& keep,
                   const std::function<bool()>& stop, Progress& progress,
                   EarlierTrials earlier = {});

}  // namespace lloyd::experiment
