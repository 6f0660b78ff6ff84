// What launches are laid out by. Needs no CUDA header.
#pragma once

#include <cstdint>

namespace lloyd_cuda {

/// What the kernels read from the card.
struct DeviceLimits {
  int device = 0;                  ///< its index
  int multiprocessors = 0;         ///< on the card
  int shared_bytes_per_block = 0;  ///< the most that a kernel can ask for
  int constant_bytes = 0;          ///< constant memory
  std::int64_t total_bytes = 0;    ///< device memory
};

}  // namespace lloyd_cuda
