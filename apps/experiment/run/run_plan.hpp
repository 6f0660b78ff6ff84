// run_plan: runs the trials of a plan in their order.
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

/// What an earlier run of the same plan left, to be resumed.
struct EarlierTrials {
  std::vector<std::vector<Record>> records;  ///< by planned fit; empty: there is no earlier run
  /// Whether a trial has an outcome, so that it is not run again.
  std::function<bool(const PlannedFit& fit, std::int64_t repeat)> done =
      [](const PlannedFit&, std::int64_t) { return false; };
};

/// Of a setting whose repeats an earlier run has all made: the trials that it left of the further
/// rounds that it began. It is not known how long it was at them, so that no other round is made.
/// Nothing where a repeat is left: then further rounds are made as in a new run.
std::optional<std::vector<PlannedTrial>> left_of_further_rounds(const Plan& plan,
                                                                const EarlierTrials& earlier,
                                                                std::size_t setting);

struct RunResult {
  /// By planned fit, in the order of Plan::fits; each has at least one.
  std::vector<std::vector<Record>> records;
  std::int64_t failed = 0;  ///< trials
  bool cancelled = false;
  std::string error;  ///< why records could not be kept; the run ended there
};

/// Runs setting by setting; within one in the order of trial_order(), and with `until` in further
/// rounds, so that what drifts on the machine meets all backends alike. Each record goes to `keep`
/// as soon as its trial ends; a fit that is skipped, or not come to before the run is interrupted,
/// leaves one record, which `describe_unrun` makes. Ends early when `stop` says so or `keep` throws
/// Error: what follows is not kept. The result holds the records of `earlier` too, but for those
/// that a new one superseded; settings that it completed get no further rounds, see
/// left_of_further_rounds().
RunResult run_plan(const Plan& plan, TrialRunner& runner,
                   const std::function<Record(const PlannedFit&)>& describe_unrun,
                   const std::function<void(const Record&)>& keep,
                   const std::function<bool()>& stop, Progress& progress,
                   EarlierTrials earlier = {});

}  // namespace lloyd::experiment
