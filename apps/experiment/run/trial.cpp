#include "experiment/run/trial.hpp"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "experiment/plan/setting_json.hpp"
#include "experiment/trial/replay_recorder.hpp"
#include "experiment/trial/stopwatch.hpp"
#include "experiment/trial/trace_work.hpp"
#include "external/backend.hpp"
#include "machine/processors/threads.hpp"
#include "supervision/guest_scope.hpp"
#include "text/names.hpp"

namespace lloyd::experiment {

const Starts& SharedStartRunner::starts(const PlannedFit& fit, const Dataset& data) {
  const Setting& setting = plan_.settings[fit.setting].setting;
  return initial_centroids_.get(
      data, setting.dataset.key(), setting.options, [this] { return observer_.stop_requested(); },
      [&] { return seed_by_backend(fit, data); },
      [this](std::int64_t done, std::int64_t total) { report_stage("seeding", done, total); });
}

// None if the backend offers no kernels or they fail; then it is not tried again. A failure is
// noted only if the backend is `planned`, that is, named by the experiment.
std::optional<Starts> SharedStartRunner::try_seeding(
    const std::shared_ptr<const LoadedBackend>& backend, const FitOptions& options,
    const Dataset& data, bool planned) {
  if (external::is_program(backend->path()) || without_kernels_.contains(backend->name())) {
    return {};
  }
  try {
    if (const auto seeded = seed_with(backend, options)) {
      Starts starts = starts_at(*seeded, data, options);
      starts.backend = backend->name();
      return starts;
    }
  } catch (const Cancelled&) {
    throw;
  } catch (const std::exception& error) {
    data.check_unchanged();  // a changed file is the better explanation
    if (planned) {
      add_note(fmt::format("seeding with {} failed: {}", backend->name(), error.what()));
    }
  }
  without_kernels_.insert(backend->name());
  return {};
}

// Seeds with the first backend that offers kernels: those of the setting, then the further ones.
// None if there is no such backend or the seeding is small.
std::optional<Starts> SharedStartRunner::seed_by_backend(const PlannedFit& fit,
                                                         const Dataset& data) {
  const FitOptions& options = plan_.settings[fit.setting].setting.options;
  if (seeding_work(options, data.samples(), data.features()) < kMinKernelSeedingWork) return {};
  for (std::size_t v = 0; v < plan_.variants.size(); ++v) {
    const std::shared_ptr<const LoadedBackend>& backend = plan_.variants[v].backend;
    if (backend == nullptr || !plan_.fit(fit.setting, v).skip.empty()) continue;
    if (auto starts = try_seeding(backend, options, data, true)) return starts;
  }
  if (find_seeding_backends_) {
    seeding_backends_ = std::exchange(find_seeding_backends_, {})();
  }
  for (const auto& backend : seeding_backends_) {
    if (auto starts = try_seeding(backend, options, data, false)) return starts;
  }
  return {};
}

std::optional<SeededRows> SharedStartRunner::seed_with(const std::shared_ptr<const LoadedBackend>&,
                                                       const FitOptions&) {
  return {};
}

void SharedStartRunner::run_trial(const PlannedFit& fit, Record& record) {
  const DatasetSetting& setting = plan_.settings[fit.setting].setting.dataset;
  const Dataset& data = [&]() -> const Dataset& {
    const Stopwatch watch(times_.data);
    std::string key = setting.key();
    if (key != dataset_key_) {
      report_stage(setting.blobs ? "generating data" : "reading data", 0, 0);
      prepare(fit.setting);
    }
    dataset_key_ = std::move(key);
    return dataset(setting);
  }();
  record.dataset.fingerprint = hex(data.fingerprint());
  const Starts& initial = [&]() -> const Starts& {
    const Stopwatch watch(times_.seeding);
    return starts(fit, data);
  }();
  report_stage("", 0, 0);
  record.seeding.ms = initial.ms;
  record.seeding.backend = initial.backend;

  Known& known = known_[{fit.setting, fit.variant}];
  // If results repeat bit for bit, one check suffices; otherwise each result is checked.
  const bool repeats = record.backend.reproducibility != apps::to_string(Reproducibility::none);
  const bool check_result = !known.checked_inertia || !repeats;
  TrialOutcome outcome;
  if (known.failure.empty()) {
    const Task task{fit, data, initial, !known.after_one, check_result, checked_[fit.setting]};
    outcome = plan_.variants[fit.variant].ranks > 0 ? attempt_on_ranks(task, record)
                                                    : attempt(task, record);
  } else {
    outcome.failure = known.failure;
  }
  if (outcome.after_one) {
    add_checked(fit.setting, *outcome.after_one);
    known.after_one = outcome.after_one;
  }
  if (outcome.probe_failed) known.failure = outcome.failure;
  times_.checks += outcome.check_ms;
  if (outcome.fit) times_.fits += outcome.fit->fit_ms;
  record.after_one = known.after_one;
  record.fit = outcome.fit;
  record.process = outcome.process;
  if (outcome.cancelled) throw Cancelled();
  if (!outcome.failure.empty()) {
    if (record.status == TrialStatus::ok) record.status = TrialStatus::failed;
    record.reason = outcome.failure;
    return;
  }
  const double inertia = outcome.fit->inertia;
  if (!known.checked_inertia) known.checked_inertia = inertia;
  if (!repeats || inertia == *known.checked_inertia) return;
  record.status = TrialStatus::failed;
  record.reason = fmt::format(
      "the inertia is {}, but that of an earlier repeat was {}; the backend states the "
      "reproducibility '{}'",
      inertia, *known.checked_inertia, record.backend.reproducibility);
}

TrialOutcome SharedStartRunner::attempt_on_ranks(const Task& task, Record& record) {
  await_prepared();
  if (!rank_trials_) rank_trials_.emplace(plan_);
  const Variant& variant = plan_.variants[task.fit.variant];
  const std::vector<std::int32_t> classes =
      task.check_result ? encode_classes(task.dataset.classes) : std::vector<std::int32_t>();
  TrialWork work{variant.backend,       variant.parameters,
                 task.dataset,          plan_.settings[task.fit.setting].setting.options,
                 task.starts.centroids, task.probe,
                 task.check_result,     plan_.checks,
                 task.checked_before};
  work.on_stage = [this](std::string_view stage, std::int64_t done, std::int64_t total) {
    report_stage(stage, done, total);
  };
  work.classes = classes;
  work.silhouette = plan_.silhouette;
  return rank_trials_->run(task.fit, work, observer_, record);
}

// Most backends have the same result. Limits the number of distinct results that are kept.
void SharedStartRunner::add_checked(std::size_t setting, const AfterOne& after_one) {
  constexpr std::size_t kMaxChecked = 64;
  std::vector<AfterOne>& checked = checked_[setting];
  const bool is_known = std::any_of(checked.begin(), checked.end(), [&](const AfterOne& before) {
    return before.digest == after_one.digest;
  });
  if (!is_known && checked.size() < kMaxChecked) checked.push_back(after_one);
}

Record SharedStartRunner::run(const PlannedFit& fit, std::int64_t repeat) {
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

Trace SharedStartRunner::trace(const PlannedFit& fit, std::int64_t restart, bool replay) {
  const Dataset& data = dataset(plan_.settings[fit.setting].setting.dataset);
  Trace trace = watch({fit, data, starts(fit, data), restart, replay});
  if (trace.replay) trace.replay->axes = replay_axes(data);
  return trace;
}

void InProcessRunner::finish(const std::function<void(const std::string&)>& note) {
  for (const std::string& text : take_notes()) note(text);
  release();
}

std::optional<SeededRows> InProcessRunner::seed_with(
    const std::shared_ptr<const LoadedBackend>& backend, const FitOptions& options) {
  apps::GuestScope guest;
  std::optional<SeededRows> seeded = seed_by_kernels(
      backend, *dataset_, options, [this] { return observer().stop_requested(); },
      [&](std::int64_t done, std::int64_t total) {
        report_stage(fmt::format("seeding with {}", backend->name()), done, total);
      });
  machine::wait_for_idle_threads(machine::kMaxSpinTime);
  guest.end();
  return seeded;
}

void InProcessRunner::release() {
  if (session_ == nullptr) return;
  apps::GuestScope guest;
  session_.reset();
  guest.end();
}

const Dataset& InProcessRunner::dataset(const DatasetSetting& setting) {
  release();
  dataset_.reset();  // frees the old data set first
  dataset_ = datasets_.get(setting);
  return *dataset_;
}

TrialOutcome InProcessRunner::attempt(const Task& task, Record& record) {
  const Variant& variant = plan().variants[task.fit.variant];
  apps::GuestScope guest;
  TrialWork work{variant.backend,       variant.parameters,
                 task.dataset,          plan().settings[task.fit.setting].setting.options,
                 task.starts.centroids, task.probe,
                 task.check_result,     plan().checks,
                 task.checked_before};
  work.on_stage = [this](std::string_view stage, std::int64_t done, std::int64_t total) {
    report_stage(stage, done, total);
  };
  const std::vector<std::int32_t> classes =
      task.check_result ? encode_classes(task.dataset.classes) : std::vector<std::int32_t>();
  work.classes = classes;
  work.silhouette = plan().silhouette;
  work.cold_l2 = plan().settings[task.fit.setting].setting.cold_l2;
  work.counters = plan().counters;
  work.gpu = gpus_.find(*variant.backend, variant.parameters);
  TrialOutcome outcome = run_trial_work(work, observer(), session_);
  if (external::is_program(variant.backend->path())) {  // a program cannot end this process
    session_.reset();
    record.release_failure = external::take_close_failure(*variant.backend);
  }
  machine::wait_for_idle_threads(machine::kMaxSpinTime);
  guest.end();
  return outcome;
}

Trace InProcessRunner::watch(const TraceTask& task) {
  const Variant& variant = plan().variants[task.fit.variant];
  const auto restart = static_cast<std::size_t>(task.restart);
  apps::GuestScope guest;
  Trace trace = make_trace({variant.backend, variant.parameters, task.dataset,
                            plan().settings[task.fit.setting].setting.options,
                            task.starts.centroids[restart], task.replay},
                           observer(), session_);
  machine::wait_for_idle_threads(machine::kMaxSpinTime);
  guest.end();
  return trace;
}

}  // namespace lloyd::experiment
