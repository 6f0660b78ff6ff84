#include "experiment/environment/gpu_monitor.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace lloyd::experiment {

const DeviceInfo* used_device(const LoadedBackend& backend, const ParameterSet& parameters) {
  const std::vector<DeviceInfo>& devices = backend.devices();
  if (devices.empty()) return nullptr;
  const std::vector<ParameterInfo>& schema = parameters.schema();
  const bool named = std::any_of(schema.begin(), schema.end(), [](const ParameterInfo& parameter) {
    return std::string_view(parameter.name) == "device";
  });
  if (!named) return &devices.front();
  const std::string index = parameters.text("device");
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
    return std::to_string(device.index) == index;
  });
  return found == devices.end() ? nullptr : &*found;
}

std::optional<UsedGpu> GpuMonitor::find(const LoadedBackend& backend,
                                        const ParameterSet& parameters) {
  const DeviceInfo* device = used_device(backend, parameters);
  if (device == nullptr || device->kind != DeviceKind::gpu) return std::nullopt;
  if (sensors_ == nullptr) sensors_ = std::make_unique<const machine::GpuSensors>(nvml_);
  return UsedGpu{device->name, sensors_.get(), sensors_->find(device->index, device->name)};
}

}  // namespace lloyd::experiment
