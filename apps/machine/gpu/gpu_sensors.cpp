#include "machine/gpu/gpu_sensors.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "machine/gpu/gpu.hpp"
#include "machine/system/system_files.hpp"

namespace lloyd::machine {
namespace {

// nvmlClocksEventReason..., in the order of their bits.
constexpr std::pair<unsigned long long, const char*> kReasons[] = {{0x1, "idle"},
                                                                   {0x2, "application_clocks"},
                                                                   {0x4, "sw_power_cap"},
                                                                   {0x8, "hw_slowdown"},
                                                                   {0x10, "sync_boost"},
                                                                   {0x20, "sw_thermal_slowdown"},
                                                                   {0x40, "hw_thermal_slowdown"},
                                                                   {0x80, "hw_power_brake"},
                                                                   {0x100, "display_clocks"}};

constexpr unsigned kSmClock = 1;  // NVML_CLOCK_SM

// Entry `index` of CUDA_VISIBLE_DEVICES; empty if there are fewer.
std::string_view visible_at(std::string_view list, std::int64_t index) {
  for (; index > 0; --index) {
    const std::size_t comma = list.find(',');
    if (comma == list.npos) return {};
    list.remove_prefix(comma + 1);
  }
  return list.substr(0, list.find(','));
}

// True if CUDA's name is NVML's, or that of a MIG instance: "NVIDIA H200 MIG 1g.18gb".
bool is_of(std::string_view cuda_name, std::string_view nvml_name) {
  return cuda_name == nvml_name || (cuda_name.starts_with(nvml_name) &&
                                    cuda_name.substr(nvml_name.size()).starts_with(" MIG"));
}

}  // namespace

std::vector<std::string> throttle_reasons(unsigned long long bits) {
  std::vector<std::string> reasons;
  for (const auto& [bit, name] : kReasons) {
    if ((bits & bit) != 0) reasons.emplace_back(name);
    bits &= ~bit;
  }
  if (bits != 0) reasons.push_back(fmt::format("{:#x}", bits));
  return reasons;
}

bool is_throttling(std::string_view reason) {
  constexpr std::string_view kOthers[] = {"idle", "application_clocks", "sync_boost",
                                          "display_clocks"};
  return std::find(std::begin(kOthers), std::end(kOthers), reason) == std::end(kOthers);
}

GpuSensors::GpuSensors(const char* library) : nvml_(library) {
  if (!nvml_.started()) return;
  read_driver(nvml_, driver_);
  read_cuda(nvml_, cuda_);
}

std::string GpuSensors::name_of(NvmlDevice device) const {
  char name[96] = {};
  const NvmlReturn code =
      nvml_.call<NvmlDevice, char*, unsigned>("nvmlDeviceGetName", device, name, sizeof(name));
  return code == 0 ? name : "";
}

NvmlDevice GpuSensors::device_of(std::string_view visible) const {
  NvmlDevice device = nullptr;
  const std::string text(visible);
  const std::int64_t index = number_of(text);
  const NvmlReturn code =
      index < 0
          ? nvml_.call<const char*, NvmlDevice*>("nvmlDeviceGetHandleByUUID", text.c_str(), &device)
          : nvml_.call<unsigned, NvmlDevice*>("nvmlDeviceGetHandleByIndex_v2",
                                              static_cast<unsigned>(index), &device);
  return code == 0 ? device : nullptr;
}

NvmlDevice GpuSensors::find(std::int64_t index, std::string_view name) const {
  if (!nvml_.started() || index < 0) return nullptr;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string entry =
      visible == nullptr ? fmt::format("{}", index) : std::string(visible_at(visible, index));
  NvmlDevice device = entry.empty() ? nullptr : device_of(entry);
  if (device != nullptr && is_of(name, name_of(device))) return device;
  std::vector<NvmlDevice> namesakes;
  unsigned count = 0;
  if (nvml_.call<unsigned*>("nvmlDeviceGetCount_v2", &count) != 0) return nullptr;
  for (unsigned i = 0; i < count; ++i) {
    device = device_of(fmt::format("{}", i));
    if (device != nullptr && is_of(name, name_of(device))) namesakes.push_back(device);
  }
  return namesakes.size() == 1 ? namesakes.front() : nullptr;
}

GpuState GpuSensors::read(NvmlDevice device) const {
  GpuState state;
  const auto clock = [&](unsigned kind) -> std::optional<std::int64_t> {
    unsigned mhz = 0;
    const NvmlReturn code =
        nvml_.call<NvmlDevice, unsigned, unsigned*>("nvmlDeviceGetClockInfo", device, kind, &mhz);
    return code == 0 ? std::optional<std::int64_t>(mhz) : std::nullopt;
  };
  constexpr unsigned kMemoryClock = 2;
  constexpr unsigned kGpuSensor = 0;
  state.sm_mhz = clock(kSmClock);
  state.memory_mhz = clock(kMemoryClock);
  unsigned value = 0;
  if (nvml_.call<NvmlDevice, unsigned, unsigned*>("nvmlDeviceGetTemperature", device, kGpuSensor,
                                                  &value) == 0) {
    state.temperature_c = value;
  }
  if (nvml_.call<NvmlDevice, unsigned*>("nvmlDeviceGetPowerUsage", device, &value) == 0) {
    state.power_w = value / 1e3;  // from milliwatts
  }
  unsigned long long bits = 0;
  // The second name is for drivers before 535.
  for (const char* function :
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    if (nvml_.call<NvmlDevice, unsigned long long*>(function, device, &bits) != 0) continue;
    state.throttle = throttle_reasons(bits);
    break;
  }
  return state;
}

std::optional<std::int64_t> GpuSensors::max_sm_mhz(NvmlDevice device) const {
  unsigned mhz = 0;
  const NvmlReturn code = nvml_.call<NvmlDevice, unsigned, unsigned*>("nvmlDeviceGetMaxClockInfo",
                                                                      device, kSmClock, &mhz);
  return code == 0 ? std::optional<std::int64_t>(mhz) : std::nullopt;
}

std::optional<double> GpuSensors::energy_j(NvmlDevice device) const {
  unsigned long long millijoules = 0;
  const NvmlReturn code = nvml_.call<NvmlDevice, unsigned long long*>(
      "nvmlDeviceGetTotalEnergyConsumption", device, &millijoules);
  return code == 0 ? std::optional<double>(static_cast<double>(millijoules) / 1e3) : std::nullopt;
}

}  // namespace lloyd::machine
