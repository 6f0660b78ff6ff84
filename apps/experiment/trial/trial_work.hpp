// run_trial_work: runs one trial, in any process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <lloyd/evaluation.hpp>
#include <lloyd/fit.hpp>

#include "experiment/config/checks.hpp"
#include "experiment/environment/conditions.hpp"
#include "experiment/environment/gpu_monitor.hpp"
#include "fit/measurements.hpp"

namespace lloyd::experiment {

/// The state after exactly one iteration from the common start, when implementations must still
/// agree.
struct AfterOne {
  double inertia = 0;
  LabelCheck labels;
  /// Hash of centroids and labels; 0 if unknown. Not kept in records.
  std::uint64_t digest = 0;
};

/// A fit from given initial centroids. The referenced objects must outlive this one.
struct TrialWork {
  std::shared_ptr<const LoadedBackend> backend;
  const ParameterSet& parameters;
  const Dataset& dataset;
  const FitOptions& options;
  const std::vector<std::vector<double>>& starts;  ///< k x d each; one per restart, at least one
  /// Make an untimed fit of one iteration first: it warms the backend up and measures its quality.
  bool probe = true;
  /// Check the result of the whole fit, see BackendSession::check().
  bool check_result = true;
  Checks checks = {};  ///< of the labels of the untimed fit
  /// Earlier results of this setting that were checked. Labels are not checked again if an earlier
  /// result has equal labels and centroids.
  std::span<const AfterOne> checked_before = {};
  /// Processor on which the timed fit begins; if the process has several threads, one that none of
  /// the others occupies. None: any processor.
  std::optional<int> processor = std::nullopt;
  /// Reuse the session of the untimed fit for the timed one: for a backend that fails to release
  /// one.
  bool one_session = false;
  /// Called with false before the session of the untimed fit is released, and with true afterwards.
  /// May be empty.
  std::function<void(bool released)> on_release = {};
  /// Receives the progress of checks. May be empty.
  StageFunction on_stage = {};
  /// With `check_result`: the class of each sample (n), for the adjusted Rand index. May be empty.
  std::span<const std::int32_t> classes = {};
  bool silhouette = false;  ///< with `check_result`: compute the simplified silhouette
  bool cold_l2 = false;     ///< before each timed fit, evict the L2 of the GPU that is used, if any
  bool counters = false;    ///< read the processor's counters, except for external programs
  /// The GPU whose energy is measured, except for external programs; none: no energy.
  std::optional<UsedGpu> gpu = std::nullopt;
  /// The energy of shorter fits is not recorded, in milliseconds: the sensor is too slow for them.
  double min_energy_ms = 500;
};

/// A worker sends it to `lloyd run`, see answer_outcome().
struct TrialOutcome {
  std::string failure;  ///< empty on success
  bool probe_failed = false;
  bool cancelled = false;
  std::optional<AfterOne> after_one;    ///< from the untimed fit
  std::optional<Measurements> fit;      ///< from the restart with the lowest inertia
  double check_ms = 0;                  ///< wall time of the checks of both fits, milliseconds
  std::optional<TrialProcess> process;  ///< the process that ran the trial, read afterwards
};

/// Rates the result of an untimed fit whose inertia has been recomputed as `inertia`: compares its
/// labels with the definition. Throws Cancelled if the observer requests to stop.
AfterOne check_after_one(const Fit& one, double inertia, const TrialWork& work,
                         const Observer& observer);
/// Compares the clusters with the classes and computes their silhouette, as `work` says.
void rate_clusters(const Fit& fit, const TrialWork& work, const Observer& observer,
                   Measurements& measurements);

/// Opens a session and fits; `observer` can cancel. An exception or error of the backend becomes a
/// failure, as does a result that BackendSession::check() rejects: the backend's results are
/// verified before they are compared and printed. The session is left open in `session`, which must
/// be empty before the call. A backend may fail to release it, so the caller stores the outcome
/// first.
TrialOutcome run_trial_work(const TrialWork& work, Observer& observer,
                            std::unique_ptr<BackendSession>& session);

}  // namespace lloyd::experiment
