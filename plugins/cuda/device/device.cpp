#include "cuda/device/device.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include <lloyd/plugin/sdk/guard.hpp>

#include "cuda/device/check.hpp"

namespace lloyd_cuda {

using lloyd::Status;
using lloyd::StatusCode;

namespace {

std::string runtime_version() {
  int version = 0;  // 1000 x major + 10 x minor
  cudaRuntimeGetVersion(&version);
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

Status probe(lloyd::DeviceList* devices) noexcept {
  return lloyd::guarded([&] {
    devices->count = 0;
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
      cudaGetLastError();
      std::string why = "the machine has none";
      if (error == cudaErrorInsufficientDriver) {
        why = "the NVIDIA driver is missing, or older than CUDA " + runtime_version() + " needs";
      } else if (error != cudaSuccess && error != cudaErrorNoDevice) {
        why = std::string("the CUDA runtime says '") + cudaGetErrorString(error) + "'";
      }
      throw lloyd::StatusError(StatusCode::unavailable, "no CUDA device can be used: " + why);
    }
    count = std::min(count, static_cast<int>(std::size(devices->devices)));
    for (int device = 0; device < count; ++device) {
      cudaDeviceProp properties;
      check(cudaGetDeviceProperties(&properties, device), "reading a device's properties");
      lloyd::DeviceInfo& info = devices->devices[devices->count++];
      info = {};
      info.index = device;
      info.kind = lloyd::DeviceKind::gpu;
      info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
      std::memcpy(info.name, properties.name, sizeof(info.name) - 1);  // longer names are truncated
    }
  });
}

Status check_device(std::int64_t device) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  if (device < count) return {};
  return Status::error(StatusCode::unsupported, "there is no CUDA device " +
                                                    std::to_string(device) + ": this machine has " +
                                                    std::to_string(count) + ", counted from 0");
}

DeviceLimits read_limits(int device) {
  DeviceLimits limits;
  limits.device = device;
  const auto read = [device](cudaDeviceAttr attribute) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, device), "reading a limit of the device");
    return value;
  };
  limits.multiprocessors = read(cudaDevAttrMultiProcessorCount);
  limits.shared_bytes_per_block = read(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  limits.constant_bytes = read(cudaDevAttrTotalConstantMemory);
  limits.has_cooperative_grids = read(cudaDevAttrCooperativeLaunch) != 0;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "reading the device's memory");
  limits.total_bytes = static_cast<std::int64_t>(total_bytes);
  return limits;
}

std::int64_t device_bytes_of(const lloyd::ParameterList& parameters) {
  const auto device = static_cast<int>(parameters.integer("device"));
  try {
    const DeviceScope scope(device);
    return read_limits(device).total_bytes;
  } catch (const lloyd::StatusError&) {
    return 0;
  }
}

DeviceScope::DeviceScope(int device) {
  check(cudaGetDevice(&former_), "reading the current device");
  check(cudaSetDevice(device), "selecting the device");
}

DeviceScope::~DeviceScope() {
  cudaSetDevice(former_);
}

}  // namespace lloyd_cuda
