#include "experiment/tracing_runner.hpp"

#include <algorithm>
#include <exception>
#include <memory>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/replay_recorder.hpp"

namespace lloyd::experiment {
namespace {

/// Keeps what a fit says of its iterations.
class TraceObserver final : public Observer {
 public:
  /// `replay` may be null.
  TraceObserver(const Observer& stop, ReplayRecorder* replay) : stop_(stop), replay_(replay) {}

  bool on_iteration(const IterationRecord& record) noexcept override {
    try {
      elapsed_ms.push_back(record.elapsed_ms);
      inertia.push_back(record.inertia);
      shift.push_back(record.shift);
      if (replay_ != nullptr) replay_->add(record.labels, record.centroids);
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
  std::exception_ptr problem;  ///< of on_iteration, which must not throw

 private:
  const Observer& stop_;
  ReplayRecorder* replay_;
};

// A fit that was not cancelled.
Fit watch(OpenSession& session, const std::vector<double>& start, FitOptions options,
          std::uint32_t observe, TraceObserver& observer) {
  options.observe = observe;
  options.profile = false;
  Fit fit = session.fit_from(start, options, &observer);
  if (observer.problem) std::rethrow_exception(observer.problem);
  if (fit.cancelled) throw Cancelled();
  return fit;
}

}  // namespace

bool TracingRunner::leaves_replay(const PlannedFit& fit) const {
  const PlannedSetting& planned = plan_.settings[fit.setting];
  if (!can_replay(planned.dataset.features, planned.setting.options.clusters)) return false;
  if (plan_.baseline && plan_.fit(fit.setting, *plan_.baseline).skip.empty()) {
    return fit.variant == *plan_.baseline;
  }
  for (std::size_t v = 0; v < fit.variant; ++v) {
    if (plan_.fit(fit.setting, v).skip.empty()) return false;
  }
  return true;
}

const std::vector<double>& TracingRunner::start(const PlannedFit& fit, const Dataset& dataset,
                                                std::int64_t restart) {
  const std::pair key(fit.setting, restart);
  if (start_.empty() || start_of_ != key) {
    const FitOptions& options = plan_.settings[fit.setting].setting.options;
    start_ = seed_centroids(dataset, options.clusters, options.seeding, restart,
                            {.stop = [&] { return observer_.stop_requested(); }});
    start_of_ = key;
  }
  return start_;
}

Trace TracingRunner::trace(const PlannedFit& fit, std::int64_t restart) {
  const PlannedSetting& planned = plan_.settings[fit.setting];
  const Variant& variant = plan_.variants[fit.variant];
  const FitOptions& options = planned.setting.options;
  const std::shared_ptr<const Dataset> dataset = datasets_.get(planned.setting.dataset);
  const std::vector<double>& initial = start(fit, *dataset, restart);
  OpenSession session(variant.backend, *dataset, variant.parameters);

  TraceObserver timed(observer_, nullptr);
  watch(session, initial, options, kObserveIterations, timed);
  std::unique_ptr<ReplayRecorder> replay;
  std::uint32_t observe = kObserveIterations | kObserveInertia;
  if (leaves_replay(fit)) {
    replay = std::make_unique<ReplayRecorder>(*dataset, initial);
    observe |= kObserveLabels | kObserveCentroids;
  }
  TraceObserver watched(observer_, replay.get());
  const Fit last = watch(session, initial, options, observe, watched);

  Trace trace;
  trace.elapsed_ms = std::move(timed.elapsed_ms);
  trace.elapsed_ms.insert(trace.elapsed_ms.begin(), 0);
  // The inertia of an iteration is that of its assignment, so of the centroids before its update.
  trace.inertia = std::move(watched.inertia);
  trace.inertia.push_back(last.result.inertia);
  trace.shift = std::move(watched.shift);
  // Where a backend does not repeat itself, one of the two fits may have been longer.
  const std::size_t states = std::min(trace.elapsed_ms.size(), trace.inertia.size());
  trace.elapsed_ms.resize(states);
  trace.inertia.resize(states);
  trace.shift.resize(states - 1);
  if (replay) trace.replay = replay->finish(last.centroids, last.labels);
  return trace;
}

Record TracingRunner::run(const PlannedFit& fit, std::int64_t repeat) {
  Record record = trials_.run(fit, repeat);
  if (!plan_.trace || record.status != TrialStatus::ok || repeat + 1 != plan_.repeats)
    return record;
  try {
    record.trace = trace(fit, record.fit->restart);
  } catch (const Cancelled&) {
    // The trial is whole; the run ends after it.
  } catch (const std::exception& error) {
    note_(fmt::format("{}: no trace: {}", record.backend.label, error.what()));
  }
  return record;
}

}  // namespace lloyd::experiment
