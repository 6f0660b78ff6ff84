// Dynamic shared memory of kernel launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/device/check.hpp"

namespace lloyd_cuda {

/// Permits launching a kernel with `bytes` of dynamic shared memory (and no static shared memory);
/// above 48 KiB that needs an attribute of the kernel. The attribute is set to `max_bytes`, the
/// device's maximum, because all threads share it: a smaller value could come from another session
/// between this request and the launch.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, std::int64_t bytes, int max_bytes) {
  constexpr std::int64_t kDefaultMaxBytes = 48 << 10;
  if (bytes <= kDefaultMaxBytes) return;
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, max_bytes),
        "requesting shared memory");
}

}  // namespace lloyd_cuda
