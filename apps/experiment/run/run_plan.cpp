#include "experiment/run/run_plan.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/statistics/bootstrap.hpp"

namespace lloyd::experiment {
namespace {

bool has_succeeded(const std::vector<Record>& fit) {
  return std::any_of(fit.begin(), fit.end(),
                     [](const Record& record) { return record.status == TrialStatus::ok; });
}

class PlanRun {
 public:
  PlanRun(const Plan& plan, TrialRunner& runner, const std::function<void(const Record&)>& keep,
          Progress& progress, EarlierTrials earlier)
      : plan_(plan),
        runner_(runner),
        keep_(keep),
        progress_(progress),
        resumed_(!earlier.records.empty()) {
    for (std::size_t s = 0; s < plan.settings.size(); ++s) {
      left_of_further_rounds_.push_back(experiment::left_of_further_rounds(plan, earlier, s));
    }
    done_ = std::move(earlier.done);
    result.records = std::move(earlier.records);
    result.records.resize(plan.fits.size());
    for (const PlannedFit& fit : plan.fits) {
      for (const Record& record : records_of(fit)) {
        if (!done(fit, record.repeat)) continue;
        result.failed += is_failure(record.status);
        if (fit.skip.empty()) progress.pass_over(fit);
      }
    }
  }

  bool done(const PlannedFit& fit, std::int64_t repeat) const { return done_(fit, repeat); }

  void add(const PlannedFit& fit, Record record) {
    keep_(record);
    if (resumed_) drop_superseded(records_of(fit), record);
    records_of(fit).push_back(std::move(record));
  }

  // Adds the record of a fit that does not run, because it is skipped or its backend failed when it
  // was planned.
  void add_planned_out(const PlannedFit& fit, Record record) {
    note_failure(fit, record);
    add(fit, std::move(record));
  }

  void add_unrun(const std::function<Record(const PlannedFit&)>& describe, bool keep) {
    for (const PlannedFit& fit : plan_.fits) {
      if (!records_of(fit).empty()) continue;
      if (keep) {
        add(fit, describe(fit));
      } else {
        records_of(fit).push_back(describe(fit));
      }
    }
  }

  // Returns false if the run was interrupted.
  bool run_trial(const PlannedTrial& trial) {
    const PlannedFit& fit = plan_.fits[trial.fit];
    progress_.begin(fit, trial.repeat);
    Record record = runner_.run(fit, trial.repeat);
    progress_.end(record);
    record.order = trial.order;
    const TrialStatus status = record.status;
    note_failure(fit, record);
    if (!record.release_failure.empty() && release_noted_.insert(fit.variant).second) {
      progress_.note(
          fmt::format("{}: {}", plan_.variants[fit.variant].label, record.release_failure));
    }
    // Set before the record is kept, so that the run ends as cancelled even if the disk is full.
    result.cancelled = result.cancelled || status == TrialStatus::cancelled;
    add(fit, std::move(record));
    return !result.cancelled;
  }

  bool has_succeeded(std::size_t fit) const {
    return experiment::has_succeeded(result.records[fit]);
  }

  const std::optional<std::vector<PlannedTrial>>& left_of_further_rounds(
      std::size_t setting) const {
    return left_of_further_rounds_[setting];
  }

  RunResult result;

 private:
  std::size_t index_of(const PlannedFit& fit) const {
    return static_cast<std::size_t>(&fit - plan_.fits.data());
  }
  std::vector<Record>& records_of(const PlannedFit& fit) { return result.records[index_of(fit)]; }

  // Counts a failure. The first one of a fit is also noted.
  void note_failure(const PlannedFit& fit, const Record& record) {
    if (record.status != TrialStatus::failed && record.status != TrialStatus::timed_out) return;
    ++result.failed;
    if (!failure_noted_.insert(index_of(fit)).second) return;
    progress_.note(fmt::format("{} {}: {}", plan_.variants[fit.variant].label,
                               to_string(record.status), record.reason));
  }

  const Plan& plan_;
  TrialRunner& runner_;
  const std::function<void(const Record&)>& keep_;
  Progress& progress_;
  std::function<bool(const PlannedFit&, std::int64_t)> done_;
  bool resumed_;
  std::set<std::size_t> failure_noted_;                                           // fits
  std::set<std::size_t> release_noted_;                                           // variants
  std::vector<std::optional<std::vector<PlannedTrial>>> left_of_further_rounds_;  // by setting
};

// True if half of the interval of each variant is small enough, with enough trials for an interval:
// the range of fewer times says little (that of a single one has no width). Variants without a
// successful trial are ignored.
bool is_exact_enough(const Plan& plan, const PlanRun& run, std::size_t setting) {
  for (std::size_t v = 0; v < plan.variants.size(); ++v) {
    std::vector<double> times;
    for (const Record& record : run.result.records[setting * plan.variants.size() + v]) {
      if (record.status == TrialStatus::ok) times.push_back(record.fit->fit_ms);
    }
    if (times.empty()) continue;
    if (times.size() < kMinTimingsForInterval) return false;
    const MedianInterval time = median_interval(times);
    if (time.high - time.low > 2 * plan.until->relative_error * time.median) return false;
  }
  return true;
}

// Runs rounds after the repeats. Returns false if the run was interrupted.
template <class RunTrials>
bool run_further_rounds(const Plan& plan, const PlanRun& run, std::size_t setting,
                        std::chrono::steady_clock::time_point begin, const RunTrials& run_trials) {
  const std::chrono::duration<double> most(plan.until->max_seconds);
  std::int64_t next_look = plan.repeats;
  for (std::int64_t repeat = plan.repeats; repeat < kMaxRepeats; ++repeat) {
    if (std::chrono::steady_clock::now() - begin >= most) break;
    if (repeat == next_look) {
      if (is_exact_enough(plan, run, setting)) break;
      // The check gets slower with more trials, so it is made less often.
      next_look += 1 + repeat / 16;
    }
    std::vector<PlannedTrial> round = trial_round(plan, setting, repeat);
    // Fits that have always failed are dropped: they would fail until the time is over.
    std::erase_if(round, [&](const PlannedTrial& trial) { return !run.has_succeeded(trial.fit); });
    if (round.empty()) break;
    if (!run_trials(round)) return false;
  }
  return true;
}

void run_settings(const Plan& plan, PlanRun& run,
                  const std::function<Record(const PlannedFit&)>& describe_unrun,
                  const std::function<bool()>& stop) {
  const auto run_trials = [&](const std::vector<PlannedTrial>& trials) {
    for (const PlannedTrial& trial : trials) {
      if (run.done(plan.fits[trial.fit], trial.repeat)) continue;
      run.result.cancelled = run.result.cancelled || stop();
      if (run.result.cancelled || !run.run_trial(trial)) return false;
    }
    return true;
  };
  for (std::size_t s = 0; s < plan.settings.size(); ++s) {
    for (std::size_t v = 0; v < plan.variants.size(); ++v) {
      const PlannedFit& fit = plan.fit(s, v);
      if (!fit.skip.empty() && !run.done(fit, 0)) run.add_planned_out(fit, describe_unrun(fit));
    }
    const auto begin = std::chrono::steady_clock::now();
    if (!run_trials(trial_order(plan, s))) return;
    if (!plan.until) continue;
    const auto& left = run.left_of_further_rounds(s);
    if (left ? !run_trials(*left) : !run_further_rounds(plan, run, s, begin, run_trials)) return;
  }
}

}  // namespace

std::optional<std::vector<PlannedTrial>> left_of_further_rounds(const Plan& plan,
                                                                const EarlierTrials& earlier,
                                                                std::size_t setting) {
  const auto done = [&](const PlannedTrial& trial) {
    return earlier.done(plan.fits[trial.fit], trial.repeat);
  };
  const std::vector<PlannedTrial> repeats = trial_order(plan, setting);
  if (!std::all_of(repeats.begin(), repeats.end(), done)) return std::nullopt;
  std::vector<PlannedTrial> left;
  if (!plan.until || earlier.records.empty()) return left;

  std::int64_t rounds = plan.repeats;  // number of rounds begun
  for (std::size_t v = 0; v < plan.variants.size(); ++v) {
    for (const Record& record : earlier.records[setting * plan.variants.size() + v]) {
      rounds = std::max(rounds, std::min(record.repeat + 1, kMaxRepeats));
    }
  }
  for (std::int64_t repeat = plan.repeats; repeat < rounds; ++repeat) {
    for (const PlannedTrial& trial : trial_round(plan, setting, repeat)) {
      if (has_succeeded(earlier.records[trial.fit]) && !done(trial)) left.push_back(trial);
    }
  }
  return left;
}

RunResult run_plan(const Plan& plan, TrialRunner& runner,
                   const std::function<Record(const PlannedFit&)>& describe_unrun,
                   const std::function<void(const Record&)>& keep,
                   const std::function<bool()>& stop, Progress& progress, EarlierTrials earlier) {
  PlanRun run(plan, runner, keep, progress, std::move(earlier));
  try {
    run_settings(plan, run, describe_unrun, stop);
    run.add_unrun(describe_unrun, true);
  } catch (const Error& error) {
    run.result.error = error.what();
    run.add_unrun(describe_unrun, false);
  }
  return std::move(run.result);
}

}  // namespace lloyd::experiment
