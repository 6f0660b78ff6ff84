#include <lloyd/fit.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/internal/returned_fit.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "checkpoint/fit_checkpoints.hpp"
#include "fit/elapsed.hpp"
#include "fit/result_check.hpp"
#include "session/kept_exception.hpp"
#include "session/session_use.hpp"

namespace lloyd {
namespace {

using Clock = std::chrono::steady_clock;

// Cancels the fit once a function of the caller has thrown.
class CancellingObserver final : public Observer {
 public:
  /// Forwards to `observer`, which may be null. Both must outlive this object.
  CancellingObserver(Observer* observer, const KeptException& kept)
      : observer_(observer), kept_(kept) {}

  bool on_iteration(const IterationRecord& record) noexcept override {
    return !kept_.kept() && (observer_ == nullptr || observer_->on_iteration(record));
  }
  bool stop_requested() const noexcept override {
    return kept_.kept() || (observer_ != nullptr && observer_->stop_requested());
  }
  void* query(const char* name) noexcept override {
    return observer_ == nullptr ? nullptr : observer_->query(name);
  }

 private:
  Observer* observer_;
  const KeptException& kept_;
};

// Wraps a function so that its exceptions are kept; an empty function stays empty. Both arguments
// must outlive the result.
template <class... Args>
std::function<void(Args...)> keep_exceptions(const std::function<void(Args...)>& function,
                                             KeptException& kept) {
  if (!function) return {};
  return [&function, &kept](Args... args) {
    kept.call(false, [&] {
      function(args...);
      return true;
    });
  };
}

// Runs the rest of a restart.
Fit fit_with_checkpoints(BackendSession& session, const FitState& state,
                         FitCheckpoints& checkpoints) {
  try {
    Fit fit = session.fit_from(state.centroids, checkpoints.options_from(state), &checkpoints);
    checkpoints.complete(fit);
    return fit;
  } catch (const BackendError& error) {
    if (error.code() != StatusCode::empty_cluster || state.iterations == 0) throw;
    throw BackendError(
        error.code(),
        fmt::format("{} (iterations are counted from the checkpoint, which is after iteration {})",
                    error.what(), state.iterations));
  }
}

// Completes the best of the restarts before a checkpoint: labels its samples. Returns false if the
// observer cancels.
bool restore_result(BackendSession& session, const FitOptions& options, Observer* observer,
                    Fit& best) {
  const Dataset& dataset = session.dataset();
  best.clusters = options.clusters;
  best.features = dataset.features();
  best.feature_names = dataset.feature_names;
  best.samples = dataset.total_samples();
  best.backend = session.backend().name();
  best.seeding_method = to_string(options.seeding.method);
  best.seed = options.seeding.seed;
  best.resumed_iterations = best.result.iterations;
  try {
    const LabelResult labelled =
        session.label(best.centroids, best.clusters, best.labels, best.counts, nullptr, observer);
    best.result.inertia = best.inertia = labelled.inertia;
    best.result.valid = kValidCentroids | labelled.valid;
  } catch (const BackendError& error) {
    if (error.code() != StatusCode::cancelled) throw;
    return false;
  } catch (const Cancelled&) {
    return false;
  }
  return true;
}

Fit fit_restarts(BackendSession& session, const FitOptions& options, Observer* observer,
                 const StageFunction& on_stage, const StartFunction& given_start,
                 const CheckpointOptions& checkpoint_options) {
  const Ranks ranks(session.communicator());
  with_core_errors([&] {
    constexpr const char* kNames[] = {"clusters", "restarts", "checkpoints", "resume"};
    const std::int64_t values[] = {options.clusters, options.restarts,
                                   checkpoint_options.folder.empty() ? 0 : 1,
                                   checkpoint_options.resume ? 1 : 0};
    ranks.require_same(values, kNames);
    ranks.together([&] {
      session.check_dataset();
      check_options(options, session.dataset());
      check_checkpoint_options(checkpoint_options);
      session.dataset().check_mapped_file();
    });
  });
  const auto stop = [&] { return observer != nullptr && observer->stop_requested(); };
  const auto stage = [&on_stage](const char* name) {
    ProgressFunction progress;
    if (on_stage) {
      progress = [&on_stage, name](std::int64_t done, std::int64_t total) {
        on_stage(name, done, total);
      };
    }
    return progress;
  };
  const bool own_kernels = computes_distances(options.seeding.method) &&
                           session.dataset().source() == nullptr &&
                           session.session().query(kSeedingKernels) != nullptr;
  Fit best;
  double seeding_ms = 0;
  double fit_ms = 0;
  bool cancelled = false;
  FitState state;
  std::optional<FitCheckpoints> checkpoints;
  if (!checkpoint_options.folder.empty()) {
    with_core_errors([&] { checkpoints.emplace(session, options, checkpoint_options, observer); });
  }
  if (checkpoint_options.resume && checkpoints) {
    std::optional<CheckpointContent> found = with_core_errors([&] { return checkpoints->load(); });
    if (found) state = std::move(found->state);
    if (found && found->best) {
      best = std::move(*found->best);
      cancelled = !restore_result(session, options, observer, best);
      if (cancelled) best = {};
    }
  }
  for (; state.restart < options.restarts && !cancelled; state = {state.restart + 1}) {
    const bool loaded = !state.centroids.empty();
    const Clock::time_point seeding = Clock::now();
    if (!loaded) {
      try {
        GivenStart start;
        if (given_start) start = given_start(state.restart);
        if (start.centroids.empty()) {
          start.backend = own_kernels ? session.backend().name() : "";
          start.centroids =
              seed_centroids(session.dataset(), options.clusters, options.seeding, state.restart,
                             {.stop = stop, .session = &session, .progress = stage("seeding")});
        }
        state.centroids = std::move(start.centroids);
        state.seeding_backend = std::move(start.backend);
      } catch (const Cancelled&) {
        cancelled = true;
      }
      seeding_ms += milliseconds_since(seeding);
    }
    if (cancelled) break;
    if (checkpoints) checkpoints->begin(state, loaded, best.centroids.empty() ? nullptr : &best);
    Fit next = checkpoints ? fit_with_checkpoints(session, state, *checkpoints)
                           : session.fit_from(state.centroids, options, observer);
    next.seeding_method = to_string(options.seeding.method);
    next.seed = options.seeding.seed;
    next.seeding_backend = state.seeding_backend;
    fit_ms += next.fit_ms;
    next.restart = state.restart;
    cancelled = next.cancelled;
    // A finished fit of an earlier restart is preferred to a cancelled one.
    if (best.centroids.empty() || (!cancelled && next.result.inertia < best.result.inertia)) {
      best = std::move(next);
    }
    if (checkpoints && !cancelled) checkpoints->end(best);
  }
  if (checkpoints && cancelled) checkpoints->save();
  if (checkpoints) best.checkpoint_error = checkpoints->error();
  best.cancelled = cancelled;
  best.seeding_ms = seeding_ms;
  best.fit_ms = fit_ms;
  if (!best.counts.empty()) {
    // A later restart could have written to the arrays of an earlier one.
    with_core_errors([&] {
      const std::vector<std::int64_t> histogram =
          label_histogram(ranks, best.labels, best.clusters);
      ranks.together([&] { check_counts(session.backend().name(), histogram, best); });
    });
    best.check = check_returned_fit(session, best, stage("checking"));
  }
  return best;
}

}  // namespace

std::int64_t restarts_to_run(const FitOptions& options) {
  return uses_seed(options.seeding.method) ? options.restarts
                                           : std::min<std::int64_t>(options.restarts, 1);
}

Fit fit(BackendSession& session, const FitOptions& options, Observer* observer,
        const StageFunction& on_stage, const StartFunction& start,
        const CheckpointOptions& checkpoints) {
  const SessionUse use(session, SessionUse::Scope::calls);
  const FloatEnvironment environment;
  FitOptions distinct = options;
  distinct.restarts = restarts_to_run(options);
  // These functions are called while other ranks wait for this one, some of them from within the
  // plugin, so their exceptions must not unwind the callers.
  KeptException kept;
  CancellingObserver cancelling(observer, kept);
  const bool has_functions = on_stage || checkpoints.on_warning || checkpoints.on_resume;
  CheckpointOptions kept_checkpoints = checkpoints;
  kept_checkpoints.on_warning = keep_exceptions(checkpoints.on_warning, kept);
  kept_checkpoints.on_resume = keep_exceptions(checkpoints.on_resume, kept);
  return kept.rethrow_after([&] {
    try {
      return fit_restarts(session, distinct, has_functions ? &cancelling : observer,
                          keep_exceptions(on_stage, kept), start, kept_checkpoints);
    } catch (const BackendError& error) {
      // The kernels of seeding read the samples, too.
      if (error.code() == StatusCode::internal) session.check_samples();
      throw;
    }
  });
}

}  // namespace lloyd
