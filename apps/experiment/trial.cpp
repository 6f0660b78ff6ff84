#include "experiment/trial.hpp"

#include <chrono>
#include <cmath>
#include <new>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/setting_json.hpp"

namespace lloyd::experiment {
namespace {

// The reported inertia must be that of the returned labels and centroids: what is compared and
// printed is not taken on the backend's word.
double checked_inertia(const LoadedBackend& backend, const Dataset& dataset, const Fit& fit) {
  constexpr double kTolerance = 1e-9;  // of a sum that need not be exact
  const double defined = inertia(dataset, fit.centroids, fit.labels);
  if (std::abs(fit.result.inertia - defined) > kTolerance * defined) {
    throw BackendError(StatusCode::internal,
                       fmt::format("{}: it reports an inertia of {}, but its labels and centroids "
                                   "have {}",
                                   backend.name(), fit.result.inertia, defined));
  }
  return defined;
}

}  // namespace

const std::vector<InProcessRunner::Start>& InProcessRunner::starts(const PlannedSetting& planned,
                                                                   const Dataset& dataset) {
  using Clock = std::chrono::steady_clock;
  const FitOptions& options = planned.setting.options;
  const std::string dataset_key = planned.setting.dataset.key();
  if (dataset_key != starts_dataset_) starts_.clear();
  starts_dataset_ = dataset_key;
  const std::string key =
      fmt::format("{} {} {} {} {} {} {}", options.clusters, options.restarts,
                  to_string(options.seeding.method), options.seeding.seed,
                  options.seeding.oversampling, options.seeding.rounds, options.seeding.file);
  const auto known = starts_.find(key);
  if (known != starts_.end()) return known->second;
  std::vector<Start> starts;
  for (std::int64_t restart = 0; restart < options.restarts; ++restart) {
    if (observer_.stop_requested()) throw Cancelled();
    const Clock::time_point begin = Clock::now();
    Start start;
    start.centroids = seed_centroids(dataset, options.clusters, options.seeding, restart,
                                     {.stop = [&] { return observer_.stop_requested(); }});
    start.ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    starts.push_back(std::move(start));
  }
  return starts_.emplace(key, std::move(starts)).first->second;
}

InProcessRunner::Probe InProcessRunner::probe(const PlannedFit& fit, const Dataset& dataset,
                                              const Start& start) {
  const Variant& variant = plan_.variants[fit.variant];
  FitOptions options = plan_.settings[fit.setting].setting.options;
  options.fixed_iterations = true;
  options.max_iterations = 1;
  Probe probe;
  try {
    OpenSession session(variant.backend, dataset, variant.parameters);
    const Fit one = session.fit_from(start.centroids, options, &observer_);
    if (one.cancelled) throw Cancelled();
    probe.after_one.inertia = checked_inertia(*variant.backend, dataset, one);
    probe.after_one.labels = check_labels(dataset, one.centroids, one.labels);
  } catch (const BackendError& error) {
    probe.failure = error.what();
  }
  return probe;
}

Fit InProcessRunner::fit_restarts(OpenSession& session, const FitOptions& options,
                                  const std::vector<Start>& starts) {
  Fit best;
  double fit_ms = 0;
  for (std::size_t restart = 0; restart < starts.size(); ++restart) {
    Fit next = session.fit_from(starts[restart].centroids, options, &observer_);
    next.restart = static_cast<std::int64_t>(restart);
    fit_ms += next.fit_ms;
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

void InProcessRunner::run_trial(const PlannedFit& fit, Record& record) {
  const PlannedSetting& planned = plan_.settings[fit.setting];
  const Variant& variant = plan_.variants[fit.variant];
  const std::shared_ptr<const Dataset> dataset = datasets_.get(planned.setting.dataset);
  record.dataset.fingerprint = hex(dataset->fingerprint());
  const std::vector<Start>& common = starts(planned, *dataset);
  record.seeding.ms = 0;
  for (const Start& start : common) *record.seeding.ms += start.ms;

  const std::pair key(fit.setting, fit.variant);
  auto known = probes_.find(key);
  if (known == probes_.end())
    known = probes_.emplace(key, probe(fit, *dataset, common.front())).first;
  if (!known->second.failure.empty()) {
    record.status = TrialStatus::failed;
    record.reason = known->second.failure;
    return;
  }
  record.after_one = known->second.after_one;

  OpenSession session(variant.backend, *dataset, variant.parameters);
  const Fit result = fit_restarts(session, planned.setting.options, common);
  record.fit = measurements_of(result, session.open_ms());
  if (result.cancelled) throw Cancelled();
  if (known->second.final_checked) return;
  checked_inertia(*variant.backend, *dataset, result);
  known->second.final_checked = true;
}

Record InProcessRunner::run(const PlannedFit& fit, std::int64_t repeat) {
  Record record = describe_trial(plan_, fit, repeat, run_, machine_);
  try {
    run_trial(fit, record);
  } catch (const Cancelled&) {
    record.status = TrialStatus::cancelled;
    record.reason = "interrupted";
  } catch (const std::bad_alloc&) {
    record.status = TrialStatus::failed;
    record.reason = "out of host memory";
  } catch (const std::exception& error) {
    record.status = TrialStatus::failed;
    record.reason = error.what();
  }
  record.time = timestamp();
  return record;
}

}  // namespace lloyd::experiment
