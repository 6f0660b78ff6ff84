// Dynamic shared memory of kernel launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/device/check.hpp"

namespace lloyd_cuda {

/// Permits launching a kernel with `bytes` of dynamic shared memory (and no static shared memory);
/// above 48 KiB that needs an attribute of the kernel. `most` is the device's maximum, and always
/// what is requested: the attribute is shared by all threads, so sessions that each request their
/// own size could lower it for each other before they launch.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, std::int64_t bytes, int most) {
  constexpr std::int64_t kAlwaysAllowed = 48 << 10;
  if (bytes <= kAlwaysAllowed) return;
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, most),
        "requesting shared memory");
}

}  // namespace lloyd_cuda
