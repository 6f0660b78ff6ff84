// make_trace: traces a fit, in any process.
#pragma once

#include <memory>
#include <vector>

#include <lloyd/fit.hpp>

#include "experiment/trial/trace.hpp"

namespace lloyd::experiment {

/// A fit to trace, from given initial centroids. The referenced objects must outlive this one.
struct TraceWork {
  std::shared_ptr<const LoadedBackend> backend;
  const ParameterSet& parameters;
  const Dataset& dataset;
  const FitOptions& options;
  const std::vector<double>& start;  ///< k x d
  bool replay = false;               ///< include a replay if it can be drawn
  /// Make an untimed fit of one iteration first, in a process that has not run this fit before.
  bool warm_up = false;
};

/// Fits twice from the same start: first observing only the times of iterations, then observing the
/// inertia of each iteration and the values for a replay. Throws Cancelled if `observer` requested
/// a stop, and BackendError for an error of the backend or a fit that reported no iteration. The
/// session is left open in `open`, see run_trial_work().
Trace make_trace(const TraceWork& work, Observer& observer, std::unique_ptr<BackendSession>& open);

}  // namespace lloyd::experiment
