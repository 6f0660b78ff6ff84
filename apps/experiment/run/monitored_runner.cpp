#include "experiment/run/monitored_runner.hpp"

#include <exception>

#include "machine/processors/affinity.hpp"

namespace lloyd::experiment {

MonitoredRunner::MonitoredRunner(const Plan& plan, TrialRunner& runner, const char* nvml)
    : plan_(plan), runner_(runner), gpus_(nvml), processors_(machine::processors_at_start()) {}

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

Record MonitoredRunner::run(const PlannedFit& fit, std::int64_t repeat) {
  std::optional<UsedGpu> gpu;
  std::optional<Conditions> conditions = conditions_before(fit, gpu);
  Record record = runner_.run(fit, repeat);
  if (!conditions) return record;
  try {
    if (gpu && gpu->device != nullptr) conditions->gpu->after = gpu->sensors->read(gpu->device);
    conditions->after = read_state(processors_);
    record.conditions = std::move(conditions);
  } catch (const std::exception&) {  // out of memory
  }
  return record;
}

}  // namespace lloyd::experiment
