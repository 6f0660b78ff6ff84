// Limits of a device, for launch configurations. Needs no CUDA header.
#pragma once

#include <cstdint>

namespace lloyd_cuda {

/// Limits of one device.
struct DeviceLimits {
  int device = 0;                      ///< index of the device
  int multiprocessors = 0;             ///< number of multiprocessors
  int shared_bytes_per_block = 0;      ///< maximum dynamic shared memory of a block
  int constant_bytes = 0;              ///< constant memory, bytes
  std::int64_t total_bytes = 0;        ///< device memory, bytes
  bool has_cooperative_grids = false;  ///< kernels can wait for all blocks of the grid
};

}  // namespace lloyd_cuda
