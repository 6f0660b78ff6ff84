// run_trial_work: what a trial is, in whatever process it runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/evaluation.hpp>
#include <lloyd/fit.hpp>

#include "experiment/environment/conditions.hpp"
#include "fit/measurements.hpp"

namespace lloyd::experiment {

/// The state after exactly one iteration from the common start, where implementations still must
/// agree.
struct AfterOne {
  double inertia = 0;
  LabelCheck labels;
};

/// A fit from given starts. What it refers to must outlive it.
struct TrialWork {
  std::shared_ptr<const LoadedBackend> backend;
  const ParameterSet& parameters;
  const Dataset& dataset;
  const FitOptions& options;
  const std::vector<std::vector<double>>& starts;  ///< k x d each; one per restart, at least one
  /// An untimed fit of one iteration comes first: it warms the backend up, and tells its quality.
  bool probe = true;
  /// Whether the result of the whole fit is checked, see OpenSession::check().
  bool check_result = true;
  /// Where the timed fit begins if the process has one thread, and otherwise where none of the
  /// others is; none: anywhere.
  std::optional<int> processor = std::nullopt;
  /// The timed fit has the session of the untimed one: for a backend that fails to release one.
  bool one_session = false;
  /// Called before the session of the untimed fit is released, and with true after it. May be
  /// empty.
  std::function<void(bool released)> on_release = {};
};

/// How it went.
struct TrialOutcome {
  std::string failure;  ///< empty where it went well
  bool probe_failed = false;
  bool cancelled = false;
  std::optional<AfterOne> after_one;    ///< of the probe
  std::optional<Measurements> fit;      ///< of the restart of least inertia
  std::optional<TrialProcess> process;  ///< the one that ran the trial, after it
};

/// Opens a session and fits. `observer` can cancel. Whatever the backend throws or
/// reports becomes a failure, and so does a result that OpenSession::check() refuses: what is
/// compared and printed is not taken on the backend's word. The session is left open in `session`,
/// which is empty before: a backend may fail to release it, so the caller keeps the outcome first.
TrialOutcome run_trial_work(const TrialWork& work, Observer& observer,
                            std::unique_ptr<OpenSession>& session);

}  // namespace lloyd::experiment
