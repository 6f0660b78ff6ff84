// make_trace: what watching a fit is, in whatever process it runs.
#pragma once

#include <memory>
#include <vector>

#include <lloyd/fit.hpp>

#include "experiment/trial/trace.hpp"

namespace lloyd::experiment {

/// A fit from a given start, to be watched. What it refers to must outlive it.
struct TraceWork {
  std::shared_ptr<const LoadedBackend> backend;
  const ParameterSet& parameters;
  const Dataset& dataset;
  const FitOptions& options;
  const std::vector<double>& start;  ///< k x d
  bool replay = false;               ///< whether the trace has one, where it can be drawn
  /// An untimed fit of one iteration comes first, for a process that has not run this fit yet.
  bool warm_up = false;
};

/// Fits twice from the start: once only the times of the iterations are observed, and once inertia
/// is computed in each, and what a replay shows. Throws Cancelled where `observer` asked to stop,
/// and BackendError for what the backend reports and where it told of no iteration. The session is
/// left open in `open`, see run_trial_work().
Trace make_trace(const TraceWork& work, Observer& observer, std::unique_ptr<OpenSession>& open);

}  // namespace lloyd::experiment
