#include "experiment/run/monitored_runner.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "machine/processors/affinity.hpp"

namespace lloyd::experiment {

namespace {

bool is_throttled(const UsedGpu& gpu, const machine::GpuState& state) {
  if (!state.throttle || !state.sm_mhz) return false;
  const std::optional<std::int64_t> max = gpu.sensors->max_sm_mhz(gpu.device);
  return max && static_cast<double>(*state.sm_mhz) < kThrottledClock * static_cast<double>(*max) &&
         std::any_of(state.throttle->begin(), state.throttle->end(), machine::is_throttling);
}

// Keeps what only the discarded attempt has: the first trial of a fit checks its result, on which
// later ones agree.
void keep_findings(Record& discarded, Record& record) {
  if (record.release_failure.empty()) record.release_failure = discarded.release_failure;
  if (record.status != TrialStatus::ok || record.fit->check) return;
  const Measurements& before = *discarded.fit;
  record.fit->check = before.check;
  record.fit->adjusted_rand_index = before.adjusted_rand_index;
  record.fit->simplified_silhouette = before.simplified_silhouette;
  record.fit->silhouette_samples = before.silhouette_samples;
}

}  // namespace

MonitoredRunner::MonitoredRunner(const Plan& plan, TrialRunner& runner, Pause pause,
                                 const char* nvml)
    : plan_(plan),
      runner_(runner),
      pause_(std::move(pause)),
      gpus_(nvml),
      processors_(machine::processors_at_start()) {}

std::optional<Conditions> MonitoredRunner::conditions_before(const PlannedFit& fit,
                                                             std::optional<UsedGpu>& gpu) {
  try {
    Conditions conditions;
    const Variant& variant = plan_.variants[fit.variant];
    if (variant.backend != nullptr) gpu = gpus_.find(*variant.backend, variant.parameters);
    if (gpu) {
      conditions.gpu = {gpu->name, gpu->sensors->driver(), gpu->sensors->cuda(), {}, {}};
      if (gpu->device != nullptr) conditions.gpu->before = gpu->sensors->read(gpu->device);
    }
    conditions.before = read_state(processors_);
    return conditions;
  } catch (const std::exception&) {  // out of memory
    return std::nullopt;
  }
}

MonitoredRunner::Attempt MonitoredRunner::attempt(const PlannedFit& fit, std::int64_t repeat) {
  std::optional<UsedGpu> gpu;
  std::optional<Conditions> conditions = conditions_before(fit, gpu);
  Attempt made{runner_.run(fit, repeat)};
  if (!conditions) return made;
  try {
    if (gpu && gpu->device != nullptr) {
      conditions->gpu->after = gpu->sensors->read(gpu->device);
      made.throttled =
          made.record.status == TrialStatus::ok && is_throttled(*gpu, conditions->gpu->after);
    }
    conditions->after = read_state(processors_);
    made.record.conditions = std::move(conditions);
  } catch (const std::exception&) {  // out of memory
  }
  return made;
}

Record MonitoredRunner::run(const PlannedFit& fit, std::int64_t repeat) {
  Attempt last = attempt(fit, repeat);
  const bool repeats = plan_.repeat_throttled && !always_throttled_.contains(fit.variant);
  std::int64_t discarded = 0;
  while (repeats && last.throttled && discarded < kMaxThrottledRepeats && pause_()) {
    ++discarded;
    Attempt next = attempt(fit, repeat);
    keep_findings(last.record, next.record);
    last = std::move(next);
  }
  if (last.throttled && discarded == kMaxThrottledRepeats) always_throttled_.insert(fit.variant);
  if (last.record.conditions && last.record.conditions->gpu) {
    last.record.conditions->gpu->discarded = discarded;
  }
  return std::move(last.record);
}

bool pause_for_cooling(const std::function<bool()>& stop) {
  constexpr std::chrono::milliseconds kStep{20};  // polling interval
  constexpr std::chrono::seconds kPause{1};
  const auto end = std::chrono::steady_clock::now() + kPause;
  while (!stop()) {
    if (std::chrono::steady_clock::now() >= end) return true;
    std::this_thread::sleep_for(kStep);
  }
  return false;
}

}  // namespace lloyd::experiment
