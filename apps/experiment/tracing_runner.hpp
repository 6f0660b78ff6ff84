// TracingRunner: after the last timed trial of a planned fit, watches one more.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment/trial.hpp"

namespace lloyd::experiment {

/// Runs trials as another runner does. Where the plan asks for traces, the record of the last
/// repeat of each planned fit gets one, from two more fits in this process that are not timed with
/// the others: one in which only the times of the iterations are observed, and one in which inertia
/// is computed in each. The baseline, or without one the first variant that is run, also leaves a
/// replay.
class TracingRunner final : public TrialRunner {
 public:
  using Note = std::function<void(const std::string&)>;

  /// The arguments must outlive the runner. `observer` can cancel a fit; `note` is told why a trace
  /// could not be made.
  TracingRunner(const Plan& plan, TrialRunner& trials, DatasetCache& datasets, Observer& observer,
                Note note)
      : plan_(plan),
        trials_(trials),
        datasets_(datasets),
        observer_(observer),
        note_(std::move(note)) {}

  Record run(const PlannedFit& fit, std::int64_t repeat) override;

 private:
  Trace trace(const PlannedFit& fit, std::int64_t restart);
  bool leaves_replay(const PlannedFit& fit) const;
  const std::vector<double>& start(const PlannedFit& fit, const Dataset& dataset,
                                   std::int64_t restart);

  const Plan& plan_;
  TrialRunner& trials_;
  DatasetCache& datasets_;
  Observer& observer_;
  Note note_;
  std::pair<std::size_t, std::int64_t> start_of_{};  ///< setting and restart of `start_`
  std::vector<double> start_;                        ///< k x d; empty before the first
};

}  // namespace lloyd::experiment
