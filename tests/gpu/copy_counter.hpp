// CopyCounter: counts the copies of all CUDA code in this process. The program defines the copy
// functions of the CUDA runtime, which the plugins and the program share, and forwards to it.
#pragma once

#include <cstdint>

namespace lloyd::gpu_tests {

/// Bytes copied since the last reset_copies().
struct CopiedBytes {
  std::int64_t to_device = 0;          ///< from host memory to device memory
  std::int64_t to_host = 0;            ///< from device memory to host memory
  std::int64_t largest_to_device = 0;  ///< of one copy
};

void reset_copies();
CopiedBytes copied_bytes();

}  // namespace lloyd::gpu_tests
