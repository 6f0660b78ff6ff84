#include "experiment/run_plan.hpp"

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::experiment {
namespace {

class PlanRun {
 public:
  PlanRun(const Plan& plan, TrialRunner& runner, const std::function<void(const Record&)>& keep,
          Progress& progress, EarlierTrials earlier)
      : plan_(plan),
        runner_(runner),
        keep_(keep),
        progress_(progress),
        done_(std::move(earlier.done)),
        resumed_(!earlier.records.empty()) {
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

  // Every fit without a record gets one.
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

  // Returns false when the run was interrupted.
  bool run_trial(const PlannedFit& fit, std::int64_t repeat) {
    progress_.begin(fit, repeat);
    Record record = runner_.run(fit, repeat);
    progress_.end();
    const TrialStatus status = record.status;
    if (status == TrialStatus::failed || status == TrialStatus::timed_out) {
      ++result.failed;
      if (repeat == 0) {
        progress_.note(fmt::format("{} {}: {}", plan_.variants[fit.variant].label,
                                   to_string(status), record.reason));
      }
    }
    // Known before it is kept: the run ends as cancelled even where the disk is full.
    result.cancelled = result.cancelled || status == TrialStatus::cancelled;
    add(fit, std::move(record));
    return !result.cancelled;
  }

  RunResult result;

 private:
  std::vector<Record>& records_of(const PlannedFit& fit) {
    return result.records[static_cast<std::size_t>(&fit - plan_.fits.data())];
  }

  const Plan& plan_;
  TrialRunner& runner_;
  const std::function<void(const Record&)>& keep_;
  Progress& progress_;
  std::function<bool(const PlannedFit&, std::int64_t)> done_;
  bool resumed_;
};

void run_settings(const Plan& plan, PlanRun& run,
                  const std::function<Record(const PlannedFit&)>& describe_unrun,
                  const std::function<bool()>& stop) {
  for (std::size_t s = 0; s < plan.settings.size(); ++s) {
    for (std::size_t v = 0; v < plan.variants.size(); ++v) {
      const PlannedFit& fit = plan.fit(s, v);
      if (!fit.skip.empty() && !run.done(fit, 0)) run.add(fit, describe_unrun(fit));
    }
    for (std::int64_t repeat = 0; repeat < plan.repeats; ++repeat) {
      for (std::size_t v = 0; v < plan.variants.size(); ++v) {
        const PlannedFit& fit = plan.fit(s, v);
        if (!fit.skip.empty() || run.done(fit, repeat)) continue;
        run.result.cancelled = run.result.cancelled || stop();
        if (run.result.cancelled || !run.run_trial(fit, repeat)) return;
      }
    }
  }
}

}  // namespace

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
