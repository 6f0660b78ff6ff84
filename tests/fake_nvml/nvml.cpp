// Three GPUs, with the functions of nvml.h that the sensors call. The multiprocessor clock of the
// first GPU decreases by 10 MHz per call, which makes the order of a reader's calls visible. The
// energy grows by 2.5 J per call.
#include <cstdlib>
#include <cstring>

struct nvmlDevice_st {
  const char* uuid;
  const char* name;
};
using nvmlDevice_t = nvmlDevice_st*;
using nvmlReturn_t = int;

namespace {

nvmlDevice_st devices[3] = {{"GPU-00000000-0000-0000-0000-000000000000", "NVIDIA H200"},
                            {"GPU-11111111-1111-1111-1111-111111111111", "NVIDIA H200"},
                            {"GPU-22222222-2222-2222-2222-222222222222", "NVIDIA T4"}};
unsigned clock_mhz = 1980;
unsigned long long energy_mj = 7'000'000;

constexpr nvmlReturn_t kNotSupported = 3;
constexpr nvmlReturn_t kNotFound = 6;

bool is_t4(nvmlDevice_t device) {
  return device == devices + 2;
}

// The value of an environment variable, by which tests change the state of the GPU.
unsigned long long given(const char* variable, unsigned long long otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

extern "C" {

#ifdef MUTE
nvmlReturn_t nvmlInit_v2() {
  return 9;
}
#else
nvmlReturn_t nvmlInit_v2() {
  return 0;
}
#endif
nvmlReturn_t nvmlShutdown() {
  return 0;
}
const char* nvmlErrorString(nvmlReturn_t code) {
  return code == 9 ? "Driver Not Loaded" : "another error";
}
nvmlReturn_t nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::strncpy(text, "570.124.06", length);
  return 0;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12080;
  return 0;
}
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return 0;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  if (index >= 3) return kNotFound;
  *device = devices + index;
  return 0;
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  for (nvmlDevice_st& known : devices) {
    if (std::strcmp(known.uuid, uuid) != 0) continue;
    *device = &known;
    return 0;
  }
  return kNotFound;
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* text, unsigned length) {
  std::strncpy(text, device->name, length);
  return 0;
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned type, unsigned* mhz) {
  if (type != 1 && type != 2) return 2;
  if (type == 2) {
    *mhz = 3201;
  } else {
    *mhz = static_cast<unsigned>(given("FAKE_NVML_SM_MHZ", clock_mhz));
    if (device == devices) clock_mhz -= 10;
  }
  return 0;
}
#ifndef OLD
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned type, unsigned* mhz) {
  if (is_t4(device)) return kNotSupported;
  if (type != 1) return 2;
  *mhz = 2000;
  return 0;
}
#endif
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned sensor, unsigned* celsius) {
  if (sensor != 0) return 2;
  *celsius = is_t4(device) ? 71 : 42;
  return 0;
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* milliwatts) {
  if (is_t4(device)) return kNotSupported;
  *milliwatts = 123456;
  return 0;
}
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
                                                 unsigned long long* millijoules) {
  if (is_t4(device)) return kNotSupported;
  *millijoules = energy_mj += 2500;
  return 0;
}
#ifdef OLD
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
                                                       unsigned long long* bits) {
#else
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* bits) {
#endif
  *bits = given("FAKE_NVML_REASONS", is_t4(device) ? 0x28 : 0x4);
  return 0;
}

}  // extern "C"
