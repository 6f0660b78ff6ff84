#include "experiment/run/monitored_runner.hpp"

#include <algorithm>
#include <exception>

#include "machine/processors/affinity.hpp"

namespace lloyd::experiment {
namespace {

// The device of a variant: the one named by its parameter `device`, else the first.
const DeviceInfo* used_device(const Variant& variant) {
  if (variant.backend == nullptr || variant.backend->devices().empty()) return nullptr;
  const std::vector<DeviceInfo>& devices = variant.backend->devices();
  const std::vector<ParameterInfo>& schema = variant.parameters.schema();
  const bool named = std::any_of(schema.begin(), schema.end(), [](const ParameterInfo& parameter) {
    return std::string_view(parameter.name) == "device";
  });
  if (!named) return &devices.front();
  const std::string index = variant.parameters.text("device");
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
    return std::to_string(device.index) == index;
  });
  return found == devices.end() ? nullptr : &*found;
}

}  // namespace

MonitoredRunner::MonitoredRunner(const Plan& plan, TrialRunner& runner, const char* nvml)
    : plan_(plan), runner_(runner), nvml_(nvml), processors_(machine::processors_at_start()) {}

std::optional<MonitoredRunner::UsedGpu> MonitoredRunner::used_gpu(const Variant& variant) {
  const DeviceInfo* device = used_device(variant);
  if (device == nullptr || device->kind != DeviceKind::gpu) return std::nullopt;
  if (sensors_ == nullptr) sensors_ = std::make_unique<machine::GpuSensors>(nvml_);
  return UsedGpu{device->name, sensors_->find(device->index, device->name)};
}

std::optional<Conditions> MonitoredRunner::conditions_before(const PlannedFit& fit,
                                                             std::optional<UsedGpu>& gpu) {
  try {
    Conditions conditions;
    gpu = used_gpu(plan_.variants[fit.variant]);
    if (gpu) {
      conditions.gpu = {gpu->name, sensors_->driver(), sensors_->cuda(), {}, {}};
      if (gpu->device != nullptr) conditions.gpu->before = sensors_->read(gpu->device);
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
    if (gpu && gpu->device != nullptr) conditions->gpu->after = sensors_->read(gpu->device);
    conditions->after = read_state(processors_);
    record.conditions = std::move(conditions);
  } catch (const std::exception&) {  // out of memory
  }
  return record;
}

}  // namespace lloyd::experiment
