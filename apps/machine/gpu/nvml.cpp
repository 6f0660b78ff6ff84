#include "machine/gpu/nvml.hpp"

#include <fmt/format.h>

namespace lloyd::machine {

Nvml::Nvml(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    problem_ = fmt::format("no NVIDIA driver: {} cannot be loaded", library);
    return;
  }
  const NvmlReturn code = call<>("nvmlInit_v2");
  started_ = code == 0;
  if (!started_) {
    problem_ = fmt::format("the NVIDIA driver does not answer: nvmlInit: {}", error_text(code));
  }
}

Nvml::~Nvml() {
  if (started_) call<>("nvmlShutdown");
}

std::string Nvml::error_text(NvmlReturn code) const {
  const auto text = reinterpret_cast<const char* (*)(NvmlReturn)>(find("nvmlErrorString"));
  return text == nullptr ? fmt::format("error {}", code) : std::string(text(code));
}

}  // namespace lloyd::machine
