#include "experiment/trial/trace_work.hpp"

#include <algorithm>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/trial/replay_recorder.hpp"

namespace lloyd::experiment {
namespace {

/// Collects the iteration records of a fit.
class TraceObserver final : public Observer {
 public:
  /// `replay` may be null.
  TraceObserver(const Observer& stop, ReplayRecorder* replay) : stop_(stop), replay_(replay) {}

  bool on_iteration(const IterationRecord& record) noexcept override {
    try {
      elapsed_ms.push_back(record.elapsed_ms);
      inertia.push_back(record.inertia);
      shift.push_back(record.shift);
      if (replay_ != nullptr) {
        if (record.labels == nullptr || record.centroids == nullptr) {
          throw Error("it reports no labels or centroids to an observer, which a replay needs");
        }
        replay_->add(record.labels, record.centroids);
      }
    } catch (...) {
      problem = std::current_exception();
      return false;
    }
    return !stop_requested();
  }
  bool stop_requested() const noexcept override { return stop_.stop_requested(); }

  std::vector<double> elapsed_ms;
  std::vector<double> inertia;
  std::vector<double> shift;
  std::exception_ptr problem;  ///< exception from on_iteration(), which must not throw

 private:
  const Observer& stop_;
  ReplayRecorder* replay_;
};

void warm_up(BackendSession& session, const TraceWork& work, Observer& observer) {
  FitOptions options = work.options;
  options.fixed_iterations = true;
  options.max_iterations = 1;
  if (session.fit_from(work.start, options, &observer).cancelled) throw Cancelled();
}

// Returns the observed fit; throws if it was cancelled.
Fit watch(BackendSession& session, const TraceWork& work, std::uint32_t observe,
          TraceObserver& observer) {
  FitOptions options = work.options;
  options.observe = observe;
  options.profile = false;
  Fit fit = session.fit_from(work.start, options, &observer);
  if (observer.problem) std::rethrow_exception(observer.problem);
  if (fit.cancelled) throw Cancelled();
  return fit;
}

}  // namespace

Trace make_trace(const TraceWork& work, Observer& observer, std::unique_ptr<BackendSession>& open) {
  open = std::make_unique<BackendSession>(work.backend, work.dataset, work.parameters);
  BackendSession& session = *open;
  if (work.warm_up) warm_up(session, work, observer);
  TraceObserver timed(observer, nullptr);
  watch(session, work, kObserveIterations, timed);
  std::optional<ReplayRecorder> replay;
  std::uint32_t observe = kObserveIterations | kObserveInertia;
  if (work.replay && can_replay(work.dataset.features(), work.options.clusters)) {
    replay.emplace(work.dataset, work.start);
    observe |= kObserveLabels | kObserveCentroids;
  }
  TraceObserver watched(observer, replay ? &*replay : nullptr);
  const Fit last = watch(session, work, observe, watched);

  Trace trace;
  trace.elapsed_ms = std::move(timed.elapsed_ms);
  trace.elapsed_ms.insert(trace.elapsed_ms.begin(), 0);
  // An iteration reports the inertia of its assignment, that is, of the centroids before its
  // update.
  trace.inertia = std::move(watched.inertia);
  trace.inertia.push_back(last.result.inertia);
  trace.shift = std::move(watched.shift);
  // If a backend is not reproducible, one of the two fits may have more iterations.
  const std::size_t states = std::min(trace.elapsed_ms.size(), trace.inertia.size());
  trace.elapsed_ms.resize(states);
  trace.inertia.resize(states);
  trace.shift.resize(states - 1);
  if (replay) trace.replay = replay->finish(last.centroids, last.labels);
  return trace;
}

}  // namespace lloyd::experiment
