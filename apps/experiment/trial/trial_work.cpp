#include "experiment/trial/trial_work.hpp"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include <lloyd/criteria.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/returned_fit.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/plugin/abi/device_cache.hpp>

#include "experiment/trial/stopwatch.hpp"
#include "external/backend.hpp"
#include "machine/counters/cpu_counters.hpp"
#include "machine/processors/affinity.hpp"
#include "machine/processors/threads.hpp"
#include "text/fnv1a.hpp"

namespace lloyd::experiment {
namespace {

std::unique_ptr<BackendSession> open(const TrialWork& work) {
  return std::make_unique<BackendSession>(work.backend, work.dataset, work.parameters);
}

std::uint64_t digest_of(const Fit& fit) {
  apps::Fnv1a hash;
  hash.add(fit.centroids.data(), fit.centroids.size() * sizeof(double));
  hash.add(fit.labels.data(), fit.labels.size() * sizeof(std::int32_t));
  return hash.value();
}

// The progress of a stage of a trial; empty if nobody listens.
ProgressFunction progress_of(const TrialWork& work, const char* stage) {
  if (!work.on_stage) return {};
  return
      [&work, stage](std::int64_t done, std::int64_t total) { work.on_stage(stage, done, total); };
}

AfterOne probe(BackendSession& session, const TrialWork& work, Observer& observer,
               double& check_ms) {
  FitOptions options = work.options;
  options.fixed_iterations = true;
  options.max_iterations = 1;
  const Fit one = session.fit_from(work.starts.front(), options, &observer);
  if (one.cancelled) throw Cancelled();
  const Stopwatch watch(check_ms);
  const ResultCheck check =
      check_returned_fit(session, one, progress_of(work, "checking the warm-up"));
  return check_after_one(one, check.inertia, work, observer);
}

// For an external program, the fit call includes an exchange of files with Lloyd that users of the
// program never pay for, so the times that the program reports are used.
double whole_ms(const TrialWork& work, const Fit& fit) {
  if (!external::is_program(work.backend->path())) return fit.fit_ms;
  return fit.result.loop_ms + fit.result.closing_ms;
}

// Evicts the cache of the GPU that the backend uses; a processor's caches are left alone.
void evict_cache(BackendSession& session, const TrialWork& work) {
  const std::string& backend = work.backend->name();
  const DeviceInfo* const device = used_device(*work.backend, work.parameters);
  if (device == nullptr || device->kind != DeviceKind::gpu) return;
  auto* const cache = static_cast<DeviceCache*>(session.session().query(kDeviceCache));
  if (cache == nullptr) {
    throw BackendError(StatusCode::unsupported,
                       fmt::format("{}: 'cold_l2' needs a backend that can evict the L2 of its GPU "
                                   "(interface {})",
                                   backend, kDeviceCache));
  }
  throw_unless_ok(backend, cache->evict());
}

Fit fit_restarts(BackendSession& session, const TrialWork& work, Observer& observer,
                 machine::CpuCounters* counters) {
  Fit best;
  double fit_ms = 0;
  for (std::size_t restart = 0; restart < work.starts.size(); ++restart) {
    if (work.cold_l2) evict_cache(session, work);
    if (counters != nullptr) counters->start();
    Fit next = session.fit_from(work.starts[restart], work.options, &observer);
    if (counters != nullptr) counters->stop();
    next.restart = static_cast<std::int64_t>(restart);
    fit_ms += whole_ms(work, next);
    const bool cancelled = next.cancelled;
    if (restart == 0 || (!cancelled && next.result.inertia < best.result.inertia)) {
      best = std::move(next);
    }
    best.cancelled = cancelled;
    if (cancelled) break;
  }
  best.fit_ms = fit_ms;
  return best;
}

// The energy that the GPU has used so far, in joules; none if it is not measured. Fits of external
// programs include an exchange of files, see whole_ms().
std::optional<double> energy_j(const TrialWork& work) {
  if (!work.gpu || work.gpu->device == nullptr || external::is_program(work.backend->path())) {
    return {};
  }
  return work.gpu->sensors->energy_j(work.gpu->device);
}

int begin(const TrialWork& work) {
  return work.processor ? machine::begin_on(*work.processor) : machine::current_processor();
}

void release(const TrialWork& work, std::unique_ptr<BackendSession>& session) {
  if (work.on_release) work.on_release(false);
  session.reset();
  if (work.on_release) work.on_release(true);
}

void fit_whole(BackendSession& session, const TrialWork& work, Observer& observer,
               TrialOutcome& outcome) {
  std::optional<machine::CpuCounters> counters;
  if (work.counters && !external::is_program(work.backend->path())) counters.emplace();
  const std::optional<double> energy_before = energy_j(work);
  Fit result = fit_restarts(session, work, observer, counters ? &*counters : nullptr);
  const std::optional<double> energy_after = energy_j(work);
  outcome.fit = measurements_of(result, session.open_ms());
  if (counters) outcome.fit->counters = counters->read();
  // The sensor restarts from 0 with the driver.
  if (result.fit_ms >= work.min_energy_ms && energy_before && energy_after >= energy_before) {
    outcome.fit->energy_j = *energy_after - *energy_before;
  }
  if (result.cancelled) throw Cancelled();
  if (!work.check_result) return;
  const Stopwatch watch(outcome.check_ms);
  result.check = check_returned_fit(session, result, progress_of(work, "checking the result"));
  outcome.fit->check = result.check;
  rate_clusters(result, work, observer, *outcome.fit);
}

}  // namespace

AfterOne check_after_one(const Fit& one, double inertia, const TrialWork& work,
                         const Observer& observer) {
  AfterOne after_one;
  after_one.inertia = inertia;
  after_one.digest = digest_of(one);
  const auto same =
      std::find_if(work.checked_before.begin(), work.checked_before.end(),
                   [&](const AfterOne& before) { return before.digest == after_one.digest; });
  if (same != work.checked_before.end()) {
    after_one.labels = same->labels;
    return after_one;
  }
  LabelCheckOptions extent;
  extent.samples = work.checks.samples;
  extent.seconds = work.checks.seconds;
  extent.progress = progress_of(work, "checking labels");
  extent.stop = [&observer] { return observer.stop_requested(); };
  after_one.labels = check_labels(work.dataset, one.centroids, one.labels, extent);
  return after_one;
}

void rate_clusters(const Fit& fit, const TrialWork& work, const Observer& observer,
                   Measurements& measurements) {
  if (has_several_classes(work.classes)) {
    measurements.adjusted_rand_index = adjusted_rand_index(work.classes, fit.labels);
  }
  if (!work.silhouette) return;
  if (work.on_stage) work.on_stage("computing the silhouette", 0, 0);
  const SimplifiedSilhouette silhouette =
      simplified_silhouette(work.dataset, fit.labels, work.options.clusters, 1,
                            [&observer] { return observer.stop_requested(); });
  measurements.simplified_silhouette = silhouette.value;
  measurements.silhouette_samples = silhouette.samples;
}

TrialOutcome run_trial_work(const TrialWork& work, Observer& observer,
                            std::unique_ptr<BackendSession>& session) {
  TrialOutcome outcome;
  try {
    if (work.probe) {
      begin(work);  // the warm-up must run on the timed fit's processor
      outcome.probe_failed = true;
      session = open(work);
      outcome.after_one = probe(*session, work, observer, outcome.check_ms);
      outcome.probe_failed = false;
      if (!work.one_session) release(work, session);
    }
    const int processor = begin(work);
    if (session == nullptr) session = open(work);
    fit_whole(*session, work, observer, outcome);
    outcome.process = this_process();
    if (!external::is_program(work.backend->path())) outcome.process->processor = processor;
  } catch (const Cancelled&) {
    outcome.cancelled = true;
  } catch (const BackendError& error) {
    // The backend would report the same error again, so `probe_failed` stays; other failures may
    // not recur.
    outcome.failure = error.what();
    return outcome;
  } catch (const std::bad_alloc&) {
    outcome.failure = "out of host memory";
  } catch (const std::exception& error) {
    outcome.failure = error.what();
  }
  outcome.probe_failed = false;
  return outcome;
}

}  // namespace lloyd::experiment
