// Nvml: NVIDIA's management library, part of the driver; loaded at run time if present.
#pragma once

#include <dlfcn.h>

#include <memory>
#include <string>
#include <type_traits>

namespace lloyd::machine {

// The part of nvml.h that is used (NVIDIA, NVML API Reference Guide, chapters "Device Queries" and
// "NvmlClocksEventReasons"). The ABI of these functions is frozen: NVIDIA gives new versions new
// names.
using NvmlReturn = int;  // 0: NVML_SUCCESS
using NvmlDevice = struct NvmlDeviceOpaque*;
struct NvmlMemory {
  unsigned long long total, free, used;  // bytes
};

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// Owns the loaded library; the destructor shuts NVML down. Functions are called by name.
class Nvml {
 public:
  /// Loads and initializes the library; on failure problem() has the reason. Tests pass another
  /// file.
  explicit Nvml(const char* library = kNvmlLibrary);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool loaded() const { return library_ != nullptr; }
  bool started() const { return started_; }
  /// Sentence on why the library is not initialized; empty if it is.
  const std::string& problem() const { return problem_; }

  /// Calls the named function. Returns NVML_ERROR_FUNCTION_NOT_FOUND if the library lacks it.
  template <class... Parameters>
  NvmlReturn call(const char* function, std::type_identity_t<Parameters>... arguments) const {
    const auto address = reinterpret_cast<NvmlReturn (*)(Parameters...)>(find(function));
    constexpr NvmlReturn kFunctionNotFound = 13;
    return address == nullptr ? kFunctionNotFound : address(arguments...);
  }
  /// NVML's description of an error code.
  std::string error_text(NvmlReturn code) const;

 private:
  struct Close {
    void operator()(void* library) const { dlclose(library); }
  };
  void* find(const char* function) const { return dlsym(library_.get(), function); }

  std::unique_ptr<void, Close> library_;
  bool started_ = false;
  std::string problem_;
};

}  // namespace lloyd::machine
