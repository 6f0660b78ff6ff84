// Shared memory of launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/check.hpp"

namespace lloyd_cuda {

/// Allows a kernel, all of whose shared memory is dynamic, to be launched with `bytes` of it; more
/// than 48 KiB have to be asked for. `most`: what a block can have (DeviceLimits), which is then
/// what is asked for, because the permission belongs to the kernel: sessions on two threads, each
/// asking for what it needs, would take it away from each other before they launch.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, std::int64_t bytes, int most) {
  constexpr std::int64_t kAlwaysAllowed = 48 << 10;
  if (bytes <= kAlwaysAllowed) return;
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, most),
        "asking for shared memory");
}

}  // namespace lloyd_cuda
