// GpuSensors: current clocks, temperature, power and throttling of a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/gpu/nvml.hpp"

namespace lloyd::machine {

/// One reading; no value if the driver does not report it.
struct GpuState {
  std::optional<std::int64_t> sm_mhz;
  std::optional<std::int64_t> memory_mhz;
  std::optional<std::int64_t> temperature_c;
  std::optional<double> power_w;
  /// Reasons for reduced clocks, by NVML's names, e.g. "sw_power_cap"; includes "idle".
  std::optional<std::vector<std::string>> throttle;
};

/// Keeps the driver's library loaded for its lifetime. A reading takes well under a millisecond and
/// creates no CUDA context. Throws std::bad_alloc only.
class GpuSensors {
 public:
  /// `library`: file name for dlopen(3).
  explicit GpuSensors(const char* library = kNvmlLibrary);

  const std::string& driver() const { return driver_; }  ///< empty if unknown
  const std::string& cuda() const { return cuda_; }      ///< see Gpus::cuda

  /// Maps a CUDA device index and name to NVML's device; null if the mapping is ambiguous.
  /// Interprets CUDA_VISIBLE_DEVICES as CUDA does (CUDA C++ Programming Guide, "CUDA Environment
  /// Variables"). CUDA orders GPUs by speed, NVML by bus address: if the names differ, the GPU of
  /// that name is taken, provided there is only one.
  NvmlDevice find(std::int64_t index, std::string_view name) const;
  /// `device`: from find(), not null.
  GpuState read(NvmlDevice device) const;
  /// Maximum SM clock; none if the driver does not report it. `device` as in read().
  std::optional<std::int64_t> max_sm_mhz(NvmlDevice device) const;
  /// Energy that the whole GPU has used since the driver was loaded, in joules; none before Volta.
  /// The driver updates it every 20 to 100 ms. `device` as in read().
  std::optional<double> energy_j(NvmlDevice device) const;

 private:
  std::string name_of(NvmlDevice device) const;
  NvmlDevice device_of(std::string_view visible) const;

  Nvml nvml_;
  std::string driver_;
  std::string cuda_;
};

/// Names of the bits of nvmlDeviceGetCurrentClocksEventReasons; unknown bits as one hexadecimal
/// number.
std::vector<std::string> throttle_reasons(unsigned long long bits);

/// True if the reason keeps the clock below its setting: a power or thermal limit, or an unknown
/// reason. False for "idle" and for reasons that are clock settings.
bool is_throttling(std::string_view reason);

}  // namespace lloyd::machine
