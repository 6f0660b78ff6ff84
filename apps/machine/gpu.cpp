#include "machine/gpu.hpp"

#include <dlfcn.h>

#include <memory>

#include <fmt/format.h>

namespace lloyd::machine {
namespace {

// The part of nvml.h that is used. Its layout is frozen: newer forms get names of their own.
using NvmlReturn = int;  // 0: success
using NvmlDevice = struct NvmlDeviceOpaque*;
struct NvmlMemory {
  unsigned long long total, free, used;  // bytes
};

constexpr const char* kLibrary = "libnvidia-ml.so.1";

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

// One function of the library, which may lack it.
template <class... Arguments>
class Function {
 public:
  Function(const Library& library, const char* name)
      : function_(reinterpret_cast<NvmlReturn (*)(Arguments...)>(dlsym(library.get(), name))) {}
  NvmlReturn operator()(Arguments... arguments) const {
    constexpr NvmlReturn kFunctionNotFound = 13;
    return function_ == nullptr ? kFunctionNotFound : function_(arguments...);
  }

 private:
  NvmlReturn (*function_)(Arguments...);
};

std::string error_text(const Library& library, NvmlReturn code) {
  const auto text =
      reinterpret_cast<const char* (*)(NvmlReturn)>(dlsym(library.get(), "nvmlErrorString"));
  return text == nullptr ? fmt::format("error {}", code) : std::string(text(code));
}

// Asks the open library; `failed` notes the first call that failed.
template <class Failed>
void ask(const Library& library, Gpus& gpus, Failed&& failed) {
  const Function<char*, unsigned> driver_version(library, "nvmlSystemGetDriverVersion");
  const Function<int*> cuda_version(library, "nvmlSystemGetCudaDriverVersion_v2");
  const Function<unsigned*> device_count(library, "nvmlDeviceGetCount_v2");
  const Function<unsigned, NvmlDevice*> device_at(library, "nvmlDeviceGetHandleByIndex_v2");
  const Function<NvmlDevice, char*, unsigned> device_name(library, "nvmlDeviceGetName");
  const Function<NvmlDevice, NvmlMemory*> device_memory(library, "nvmlDeviceGetMemoryInfo");
  const Function<NvmlDevice, int*, int*> device_capability(library,
                                                           "nvmlDeviceGetCudaComputeCapability");
  char text[96] = {};
  if (!failed("nvmlSystemGetDriverVersion", driver_version(text, sizeof(text)))) {
    gpus.driver = text;
  }
  int cuda = 0;
  if (!failed("nvmlSystemGetCudaDriverVersion", cuda_version(&cuda))) {
    gpus.cuda = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
  }
  unsigned count = 0;
  if (failed("nvmlDeviceGetCount", device_count(&count))) return;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice device = nullptr;
    if (failed("nvmlDeviceGetHandleByIndex", device_at(i, &device))) continue;
    Gpu gpu;
    if (!failed("nvmlDeviceGetName", device_name(device, text, sizeof(text)))) gpu.name = text;
    NvmlMemory memory{};
    if (!failed("nvmlDeviceGetMemoryInfo", device_memory(device, &memory))) {
      gpu.memory_bytes = static_cast<std::int64_t>(memory.total);
    }
    int major = 0;
    int minor = 0;
    if (!failed("nvmlDeviceGetCudaComputeCapability", device_capability(device, &major, &minor))) {
      gpu.compute_capability = fmt::format("{}.{}", major, minor);
    }
    gpus.list.push_back(std::move(gpu));
  }
}

}  // namespace

Gpus read_gpus() {
  Gpus gpus;
  const Library library(dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) {
    gpus.problem = fmt::format("no NVIDIA driver: {} cannot be loaded", kLibrary);
    return gpus;
  }
  gpus.driver_found = true;
  const auto failed = [&](const char* call, NvmlReturn code) {
    if (code == 0) return false;
    if (gpus.problem.empty()) {
      gpus.problem =
          fmt::format("the NVIDIA driver does not answer: {}: {}", call, error_text(library, code));
    }
    return true;
  };
  if (failed("nvmlInit", Function<>(library, "nvmlInit_v2")())) return gpus;
  ask(library, gpus, failed);
  failed("nvmlShutdown", Function<>(library, "nvmlShutdown")());
  return gpus;
}

}  // namespace lloyd::machine
