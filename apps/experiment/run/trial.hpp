// TrialRunner: interface that runs one trial of a plan.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/plan/dataset_cache.hpp"
#include "experiment/plan/initial_centroids.hpp"
#include "experiment/plan/plan.hpp"
#include "experiment/ranks/rank_trials.hpp"
#include "experiment/record/record.hpp"
#include "experiment/run/run_times.hpp"
#include "experiment/trial/kernel_seeding.hpp"
#include "experiment/trial/trial_work.hpp"

namespace lloyd::experiment {

/// Implementations choose the process in which trials run.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  /// Runs one trial. Does not throw if the trial fails; the record's status and reason report it.
  virtual Record run(const PlannedFit& fit, std::int64_t repeat) = 0;
};

/// Lloyd's own code makes seedings with fewer multiplications, in well under a second.
inline constexpr double kMinKernelSeedingWork = 0x1p27;

/// Base of all runners. Data sets and initial centroids are made once, for all backends. If a
/// backend of the plan offers seeding kernels, large seedings use them: by contract they choose the
/// same samples as Lloyd's own code. An untimed fit of exactly one iteration precedes the first
/// trial of each planned fit: it warms the backend up, and measures quality after one iteration,
/// when all implementations must still agree.
class SharedStartRunner : public TrialRunner {
 public:
  /// The arguments must outlive the runner. `observer` can cancel a fit.
  SharedStartRunner(const Plan& plan, Observer& observer, std::string run, Machine machine)
      : plan_(plan), observer_(observer), run_(std::move(run)), machine_(std::move(machine)) {}

  Record run(const PlannedFit& fit, std::int64_t repeat) final;
  /// `on_stage` receives the current stage and its progress; an empty name stands for the fit.
  void report_stages_to(StageFunction on_stage) { on_stage_ = std::move(on_stage); }
  /// `find` returns further backends to seed with if no backend of a setting offers kernels. It is
  /// called at most once, when they are first needed.
  void seed_also_with(std::function<std::vector<std::shared_ptr<const LoadedBackend>>()> find) {
    find_seeding_backends_ = std::move(find);
  }
  /// `variants` says which variants have trials to run, so that programs of the others are not
  /// started in advance. By default all have.
  void expect_trials_of(std::vector<bool> variants) { expected_ = std::move(variants); }
  /// Times of all trials so far.
  const RunTimes& times() const { return times_; }
  /// Traces a fit that has been run, from the initial centroids of one restart, in the process that
  /// runs trials. Throws Cancelled, and Error if no trace can be made.
  Trace trace(const PlannedFit& fit, std::int64_t restart, bool replay);
  /// Call after the last trial: releases the resources that backends still hold. `note` receives
  /// one sentence for each failure.
  virtual void finish(const std::function<void(const std::string&)>& note) = 0;

 protected:
  /// One trial and its inputs.
  struct Task {
    const PlannedFit& fit;
    const Dataset& dataset;
    const Starts& starts;
    bool probe;                                ///< the untimed fit has not been made
    bool check_result;                         ///< check the result against the definition
    std::span<const AfterOne> checked_before;  ///< see TrialWork
  };

  /// One fit to trace.
  struct TraceTask {
    const PlannedFit& fit;
    const Dataset& dataset;
    const Starts& starts;
    std::int64_t restart;
    bool replay;
  };

  /// Called before the data set of a setting is made: starts what a trial would wait for.
  virtual void prepare(std::size_t /*setting*/) {}
  /// Called before a trial on ranks: waits until the work that prepare() started is done, so that
  /// it does not disturb the measurement.
  virtual void await_prepared() {}
  /// Returns the data set, valid until the next call.
  virtual const Dataset& dataset(const DatasetSetting& setting) = 0;
  /// Runs the trial. May set status and reason of the record if the trial ended without an outcome,
  /// and the failure to release its session.
  virtual TrialOutcome attempt(const Task& task, Record& record) = 0;
  /// Makes the trace, without the names of a replay's axes.
  virtual Trace watch(const TraceTask& task) = 0;
  /// Seeds with the kernels of a backend, for the data set that dataset() returned last. None if
  /// the backend offers none. Throws Error if it fails, and Cancelled.
  virtual std::optional<SeededRows> seed_with(const std::shared_ptr<const LoadedBackend>& backend,
                                              const FitOptions& options);
  /// Keeps a message for take_notes().
  void add_note(std::string text) { notes_.push_back(std::move(text)); }
  /// The messages since the last call.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

  /// Reports the current stage, see report_stages_to().
  void report_stage(std::string_view stage, std::int64_t done, std::int64_t total) const {
    if (on_stage_) on_stage_(stage, done, total);
  }

  /// False if no trial of the variant is left to run.
  bool expects_trials_of(std::size_t variant) const {
    return expected_.empty() || expected_[variant];
  }
  const Plan& plan() const { return plan_; }
  Observer& observer() const { return observer_; }

 private:
  /// Results of a planned fit so far. A backend that fails in the untimed fit is not tried again.
  struct Known {
    std::optional<AfterOne> after_one;
    std::string failure;
    std::optional<double> checked_inertia;  ///< inertia of a whole fit that passed the check
  };

  void run_trial(const PlannedFit& fit, Record& record);
  TrialOutcome attempt_on_ranks(const Task& task, Record& record);
  void add_checked(std::size_t setting, const AfterOne& after_one);
  const Starts& starts(const PlannedFit& fit, const Dataset& data);
  std::optional<Starts> seed_by_backend(const PlannedFit& fit, const Dataset& data);
  std::optional<Starts> try_seeding(const std::shared_ptr<const LoadedBackend>& backend,
                                    const FitOptions& options, const Dataset& data, bool planned);

  const Plan& plan_;
  Observer& observer_;
  std::string run_;
  Machine machine_;
  StageFunction on_stage_;
  RunTimes times_;
  std::vector<bool> expected_;  ///< see expect_trials_of()
  std::string dataset_key_;     ///< of the data set of the last trial
  InitialCentroids initial_centroids_;
  /// Names of backends that offer no seeding kernels or whose kernels failed.
  std::set<std::string> without_kernels_;
  std::function<std::vector<std::shared_ptr<const LoadedBackend>>()> find_seeding_backends_;
  /// What find_seeding_backends_ returned.
  std::vector<std::shared_ptr<const LoadedBackend>> seeding_backends_;
  std::optional<RankTrials> rank_trials_;  ///< made for the first trial on ranks
  std::vector<std::string> notes_;         ///< messages that belong to no record
  std::map<std::pair<std::size_t, std::size_t>, Known> known_;
  /// By setting: distinct results of untimed fits whose labels have been checked.
  std::map<std::size_t, std::vector<AfterOne>> checked_;
};

/// Runs trials in this process. The session of a trial is released after its record is kept: when
/// the next trial begins, or the run ends.
class InProcessRunner final : public SharedStartRunner {
 public:
  InProcessRunner(const Plan& plan, DatasetCache& datasets, Observer& observer, std::string run,
                  Machine machine)
      : SharedStartRunner(plan, observer, std::move(run), std::move(machine)),
        datasets_(datasets) {}

  void finish(const std::function<void(const std::string&)>& note) override;

 private:
  const Dataset& dataset(const DatasetSetting& setting) override;
  TrialOutcome attempt(const Task& task, Record& record) override;
  Trace watch(const TraceTask& task) override;
  std::optional<SeededRows> seed_with(const std::shared_ptr<const LoadedBackend>& backend,
                                      const FitOptions& options) override;
  void release();

  DatasetCache& datasets_;
  std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<BackendSession> session_;
  GpuMonitor gpus_;
};

}  // namespace lloyd::experiment
