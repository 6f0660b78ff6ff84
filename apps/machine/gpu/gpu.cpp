#include "machine/gpu/gpu.hpp"

#include <fmt/format.h>

namespace lloyd::machine {
namespace {

// Queries the library; `failed` keeps the first call that failed.
template <class Failed>
void ask(const Nvml& nvml, Gpus& gpus, Failed&& failed) {
  unsigned count = 0;
  if (failed("nvmlDeviceGetCount", nvml.call<unsigned*>("nvmlDeviceGetCount_v2", &count))) return;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice device = nullptr;
    if (failed("nvmlDeviceGetHandleByIndex",
               nvml.call<unsigned, NvmlDevice*>("nvmlDeviceGetHandleByIndex_v2", i, &device))) {
      continue;
    }
    Gpu gpu;
    char text[96] = {};
    if (!failed("nvmlDeviceGetName", nvml.call<NvmlDevice, char*, unsigned>(
                                         "nvmlDeviceGetName", device, text, sizeof(text)))) {
      gpu.name = text;
    }
    NvmlMemory memory{};
    if (!failed("nvmlDeviceGetMemoryInfo",
                nvml.call<NvmlDevice, NvmlMemory*>("nvmlDeviceGetMemoryInfo", device, &memory))) {
      gpu.memory_bytes = static_cast<std::int64_t>(memory.total);
    }
    int major = 0;
    int minor = 0;
    if (!failed("nvmlDeviceGetCudaComputeCapability",
                nvml.call<NvmlDevice, int*, int*>("nvmlDeviceGetCudaComputeCapability", device,
                                                  &major, &minor))) {
      gpu.compute_capability = fmt::format("{}.{}", major, minor);
    }
    gpus.list.push_back(std::move(gpu));
  }
}

}  // namespace

NvmlReturn read_driver(const Nvml& nvml, std::string& version) {
  char text[96] = {};
  const NvmlReturn code =
      nvml.call<char*, unsigned>("nvmlSystemGetDriverVersion", text, sizeof(text));
  if (code == 0) version = text;
  return code;
}

NvmlReturn read_cuda(const Nvml& nvml, std::string& version) {
  int cuda = 0;
  const NvmlReturn code = nvml.call<int*>("nvmlSystemGetCudaDriverVersion_v2", &cuda);
  if (code == 0) version = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
  return code;
}

Gpus read_gpus() {
  Gpus gpus;
  const Nvml nvml;
  gpus.driver_found = nvml.loaded();
  gpus.problem = nvml.problem();
  if (!nvml.started()) return gpus;
  const auto failed = [&](const char* call, NvmlReturn code) {
    if (code == 0) return false;
    if (gpus.problem.empty()) {
      gpus.problem =
          fmt::format("the NVIDIA driver does not answer: {}: {}", call, nvml.error_text(code));
    }
    return true;
  };
  failed("nvmlSystemGetDriverVersion", read_driver(nvml, gpus.driver));
  failed("nvmlSystemGetCudaDriverVersion", read_cuda(nvml, gpus.cuda));
  ask(nvml, gpus, failed);
  return gpus;
}

}  // namespace lloyd::machine
