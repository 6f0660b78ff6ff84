// Host declarations for users of the fused kernels.
#pragma once

#include "cuda/device/device_limits.hpp"
#include "cuda/device/occupancy.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd_cuda_fused {

/// The device's limits, and its cached occupancies.
struct Device {
  lloyd_cuda::DeviceLimits limits;
  lloyd_cuda::Occupancy occupancy;
};

/// True if the pass sums only samples whose label changes. False in the first pass, which sums all.
LLOYD_HOST_DEVICE inline bool sums_changes_only(const lloyd_cuda::Pass& pass) {
  return pass.accumulates() && pass.sums_only_changes && pass.former_centroids != nullptr;
}

}  // namespace lloyd_cuda_fused
