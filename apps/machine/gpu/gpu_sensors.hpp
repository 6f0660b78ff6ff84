// GpuSensors: clocks, temperature, power and throttling of a GPU, now.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/gpu/nvml.hpp"

namespace lloyd::machine {

/// What the driver says at one moment; none where it does not.
struct GpuState {
  std::optional<std::int64_t> sm_mhz;
  std::optional<std::int64_t> memory_mhz;
  std::optional<std::int64_t> temperature_c;
  std::optional<double> power_w;
  /// Why clocks are below the highest, by NVML's names: "sw_power_cap"; "idle" is one of them.
  std::optional<std::vector<std::string>> throttle;
};

/// The driver's library stays open while it lives. Reading takes well under a millisecond and makes
/// no CUDA context. Nothing throws but std::bad_alloc.
class GpuSensors {
 public:
  explicit GpuSensors(const char* library = kNvmlLibrary);

  const std::string& driver() const { return driver_; }  ///< empty where not known
  const std::string& cuda() const { return cuda_; }      ///< likewise, as Gpus::cuda

  /// The GPU that CUDA counts as `index` and calls `name`; null where it cannot be told which it
  /// is. CUDA_VISIBLE_DEVICES is followed as CUDA does (CUDA C++ Programming Guide, "CUDA
  /// Environment Variables"). CUDA puts the fastest GPU first, NVML goes by the bus: where the
  /// names differ, the only GPU of that name is taken.
  NvmlDevice find(std::int64_t index, std::string_view name) const;
  GpuState read(NvmlDevice device) const;

 private:
  std::string name_of(NvmlDevice device) const;
  NvmlDevice device_of(std::string_view visible) const;

  Nvml nvml_;
  std::string driver_;
  std::string cuda_;
};

/// Names of the bits of nvmlDeviceGetCurrentClocksEventReasons; bits without one are in
/// hexadecimal.
std::vector<std::string> throttle_reasons(unsigned long long bits);

/// Whether a reason is one for a clock below that which the GPU was set to: a limit of power or
/// heat, or one without a name. An idle GPU and the settings of its clocks are none.
bool is_throttling(std::string_view reason);

}  // namespace lloyd::machine
