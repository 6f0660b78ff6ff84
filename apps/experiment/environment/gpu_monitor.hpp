// GpuMonitor: the GPUs that backends use, and their sensors.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <lloyd/parameter_set.hpp>
#include <lloyd/registry.hpp>

#include "machine/gpu/gpu_sensors.hpp"

namespace lloyd::experiment {

/// The device that a backend uses: the one named by its parameter `device`, else its first; null if
/// it has no such device.
const DeviceInfo* used_device(const LoadedBackend& backend, const ParameterSet& parameters);

/// A GPU that a backend uses.
struct UsedGpu {
  std::string name;                      ///< as CUDA reports it
  const machine::GpuSensors* sensors;    ///< never null
  machine::NvmlDevice device = nullptr;  ///< null if the sensors do not know it
};

/// Finds the GPUs of backends. Loads the driver's library when the first one is looked for.
class GpuMonitor {
 public:
  /// `nvml`: file name for dlopen(3), see GpuSensors.
  explicit GpuMonitor(const char* nvml = machine::kNvmlLibrary) : nvml_(nvml) {}

  /// The GPU that the backend uses, valid as long as this object; none if it uses none. Throws
  /// std::bad_alloc only.
  std::optional<UsedGpu> find(const LoadedBackend& backend, const ParameterSet& parameters);

 private:
  const char* nvml_;
  std::unique_ptr<const machine::GpuSensors> sensors_;
};

}  // namespace lloyd::experiment
