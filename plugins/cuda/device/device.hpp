// Devices: probing, limits, and the current device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/backend.hpp>

#include "cuda/device/device_limits.hpp"

namespace lloyd_cuda {

/// Implements PluginDescriptor::probe. Returns `unavailable`, with the reason, if there is no
/// device.
lloyd::Status probe(lloyd::DeviceList* devices) noexcept;

/// Returns `unsupported` if the machine has no device of this index. Returns ok if it has no device
/// at all, which open() reports.
lloyd::Status check_device(std::int64_t device);

/// Reads the limits of a device. Throws StatusError.
DeviceLimits read_limits(int device);

/// Memory of the device that the parameter `device` selects, bytes; 0 if there is none, which
/// check_device() or open() reports.
std::int64_t device_bytes_of(const lloyd::ParameterList& parameters);

/// Makes a device current for its lifetime.
class DeviceScope {
 public:
  /// Throws StatusError if the device cannot be used.
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int former_ = 0;
};

}  // namespace lloyd_cuda
