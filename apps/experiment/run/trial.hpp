// TrialRunner: runs one trial of a plan, somewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "experiment/plan/dataset_cache.hpp"
#include "experiment/plan/initial_centroids.hpp"
#include "experiment/plan/plan.hpp"
#include "experiment/record/record.hpp"
#include "experiment/trial/trial_work.hpp"

namespace lloyd::experiment {

/// Where trials run is up to the implementation.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  /// Whatever goes wrong in the trial becomes a record with status `failed`.
  virtual Record run(const PlannedFit& fit, std::int64_t repeat) = 0;
};

/// What all runners share. Data sets and initial centroids are made once, here, for all backends.
/// Before the first trial of each planned fit comes an untimed one of exactly one iteration: it
/// warms the backend up, and tells its quality while implementations still must agree.
class SharedStartRunner : public TrialRunner {
 public:
  /// The arguments must outlive the runner. `observer` can cancel a fit.
  SharedStartRunner(const Plan& plan, Observer& observer, std::string run, Machine machine)
      : plan_(plan), observer_(observer), run_(std::move(run)), machine_(std::move(machine)) {}

  Record run(const PlannedFit& fit, std::int64_t repeat) final;
  /// Watches a fit that has been run, from the start of one restart, where trials run. Throws
  /// Cancelled, or Error where there is no trace, for whatever reason.
  Trace trace(const PlannedFit& fit, std::int64_t restart, bool replay);
  /// After the last trial: releases what backends still hold. `note` is told what goes wrong, one
  /// sentence each.
  virtual void finish(const std::function<void(const std::string&)>& note) = 0;

 protected:
  /// One trial, with all that running it takes.
  struct Task {
    const PlannedFit& fit;
    const Dataset& dataset;
    const Starts& starts;
    bool probe;         ///< the untimed fit is still to be made
    bool check_result;  ///< the result is to be checked by the definition
  };

  /// One fit to be watched.
  struct TraceTask {
    const PlannedFit& fit;
    const Dataset& dataset;
    const Starts& starts;
    std::int64_t restart;
    bool replay;
  };

  /// The data set, which stays valid until the next call.
  virtual const Dataset& dataset(const DatasetSetting& setting) = 0;
  /// Runs the trial. May write status and reason of another end than an outcome's into the record,
  /// and what went wrong when the session was released.
  virtual TrialOutcome attempt(const Task& task, Record& record) = 0;
  /// Makes the trace, but for the names of a replay's axes.
  virtual Trace watch(const TraceTask& task) = 0;

  const Plan& plan() const { return plan_; }
  Observer& observer() const { return observer_; }

 private:
  /// What is known of a planned fit. A backend that fails in the untimed fit is not tried again.
  struct Known {
    std::optional<AfterOne> after_one;
    std::string failure;
    std::optional<double> checked_inertia;  ///< of a whole fit whose result was checked
  };

  void run_trial(const PlannedFit& fit, Record& record);
  const Starts& starts(const PlannedFit& fit, const Dataset& data);

  const Plan& plan_;
  Observer& observer_;
  std::string run_;
  Machine machine_;
  InitialCentroids initial_centroids_;
  std::map<std::pair<std::size_t, std::size_t>, Known> known_;
};

/// Runs trials in this process. The session of a trial is released when its record was kept: not
/// before the next trial begins, or the run ends.
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
  void release();

  DatasetCache& datasets_;
  std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<OpenSession> session_;
};

}  // namespace lloyd::experiment
