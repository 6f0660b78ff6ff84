// Devices: which there are, what they can hold, and which one is current.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/backend.hpp>

#include "cuda/device_limits.hpp"

namespace lloyd_cuda {

/// Implements PluginDescriptor::probe: `unavailable`, with the reason, where there is no device.
lloyd::Status probe(lloyd::DeviceList* devices) noexcept;

/// `unsupported` where `device` is not one of the machine's; ok where there is none at all, which
/// open() tells.
lloyd::Status check_device(std::int64_t device);

/// Asks the card. Throws StatusError.
DeviceLimits read_limits(int device);

/// Makes a device current for its lifetime.
class DeviceScope {
 public:
  /// Throws StatusError where the device cannot be had.
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int former_ = 0;
};

}  // namespace lloyd_cuda
