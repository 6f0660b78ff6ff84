// Occupancy: how many blocks of a kernel a multiprocessor holds.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "cuda/device/check.hpp"

namespace lloyd_cuda {

/// Asks the driver once per kernel and layout. Serves one device and one thread.
class Occupancy {
 public:
  /// Blocks of `threads` threads and `bytes` of dynamic shared memory that a multiprocessor holds;
  /// at least 1. Throws StatusError.
  template <class Kernel>
  int blocks(Kernel* kernel, int threads, std::int64_t bytes) {
    const auto* const address = reinterpret_cast<const void*>(kernel);
    const auto [found, added] = blocks_.try_emplace({address, threads, bytes}, 1);
    if (added) {
      int blocks = 0;
      const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, kernel, threads, static_cast<std::size_t>(bytes));
      if (error != cudaSuccess) blocks_.erase(found);
      check(error, "laying out a kernel");
      found->second = std::max(blocks, 1);
    }
    return found->second;
  }

 private:
  std::map<std::tuple<const void*, int, std::int64_t>, int> blocks_;
};

}  // namespace lloyd_cuda
