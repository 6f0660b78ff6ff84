// TrialRunner: runs one trial of a plan, somewhere.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiment/dataset_cache.hpp"
#include "experiment/plan.hpp"
#include "experiment/record.hpp"

namespace lloyd::experiment {

/// Where trials run is up to the implementation.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  /// Whatever goes wrong in the trial becomes a record with status `failed`.
  virtual Record run(const PlannedFit& fit, std::int64_t repeat) = 0;
};

/// Runs trials in this process. Data sets and initial centroids are made once and shared by all
/// backends. Before the first trial of each planned fit comes an untimed one of exactly one
/// iteration: it warms the backend up, and tells its quality while implementations still must
/// agree.
class InProcessRunner final : public TrialRunner {
 public:
  /// The arguments must outlive the runner. `observer` can cancel a fit.
  InProcessRunner(const Plan& plan, DatasetCache& datasets, Observer& observer, std::string run,
                  Machine machine)
      : plan_(plan),
        datasets_(datasets),
        observer_(observer),
        run_(std::move(run)),
        machine_(std::move(machine)) {}

  Record run(const PlannedFit& fit, std::int64_t repeat) override;

 private:
  /// The initial centroids of one restart.
  struct Start {
    std::vector<double> centroids;
    double ms = 0;
  };
  /// How the untimed fit went: a failure is not tried again.
  struct Probe {
    AfterOne after_one;
    std::string failure;
    bool final_checked = false;  ///< whether a whole fit's inertia was computed again
  };

  void run_trial(const PlannedFit& fit, Record& record);
  const std::vector<Start>& starts(const PlannedSetting& planned, const Dataset& dataset);
  Probe probe(const PlannedFit& fit, const Dataset& dataset, const Start& start);
  Fit fit_restarts(OpenSession& session, const FitOptions& options,
                   const std::vector<Start>& starts);

  const Plan& plan_;
  DatasetCache& datasets_;
  Observer& observer_;
  std::string run_;
  Machine machine_;
  std::string starts_dataset_;  ///< key of the data set that starts_ belong to
  std::map<std::string, std::vector<Start>> starts_;
  std::map<std::pair<std::size_t, std::size_t>, Probe> probes_;
};

}  // namespace lloyd::experiment
