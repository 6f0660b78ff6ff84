// Self-test of tensor cores: whether a device accumulates as accurately as the error bound assumes.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda-fast/screens/screen.hpp"
#include "cuda/device/device_limits.hpp"

namespace lloyd_cuda_fast {

/// Screens samples and centroids that need no rounding, and compares the scores with exact ones.
/// Returns false if an error exceeds the bound (BOUND.md, step 3), or a nearest centroid is wrong.
/// The result is kept for further sessions on the device. `path`: wgmma or mma. Waits for the
/// stream. Throws StatusError.
bool passes_self_test(ScreenPath path, const lloyd_cuda::DeviceLimits& limits, cudaStream_t stream);

}  // namespace lloyd_cuda_fast
