// Shared memory of launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cuda/check.hpp"

namespace lloyd_cuda_elkan {

/// Allows a kernel as much dynamic shared memory as it will be launched with; more than 48 KiB have
/// to be asked for.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, std::size_t bytes) {
  constexpr std::size_t kAlwaysAllowed = 48 << 10;
  if (bytes <= kAlwaysAllowed) return;
  lloyd_cuda::check(
      cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                           cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
      "asking for shared memory");
}

}  // namespace lloyd_cuda_elkan
