// StorePlan: which samples stay in device memory, and which are streamed. Pure functions of sizes,
// without CUDA.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lloyd_cuda {

/// A plan for the samples of a data set.
struct StorePlan {
  bool feasible = false;           ///< true: the plan fits into the limit
  std::int64_t resident_rows = 0;  ///< the first rows, which stay in device memory
  std::int64_t batch_rows = 0;     ///< maximum rows of a batch; 0: all rows are resident
  double device_bytes = 0;         ///< the minimum if not feasible
  double host_bytes = 0;           ///< pinned memory, at most

  bool is_resident() const { return batch_rows == 0; }
};

/// Bytes of a batch, if memory allows; larger ones are copied no faster.
inline constexpr double kStreamedBatchBytes = 64.0 * (1 << 20);
/// Minimum rows of a batch; smaller batches are not worth a copy.
inline constexpr std::int64_t kMinStreamedRows = 1024;
/// Batches in device memory: one is processed while another is copied, and a third is transposed if
/// samples are feature-major.
inline constexpr int kBatchBuffers = 3;

/// The plan for n rows of `row_bytes` with `available` bytes of device memory: all rows resident if
/// they fit, else as many as fit beside the buffers of batches.
inline StorePlan plan_store(std::int64_t samples, double row_bytes, double available) {
  const auto n = static_cast<double>(samples);
  StorePlan plan;
  plan.resident_rows = samples;
  plan.device_bytes = n * row_bytes;
  plan.feasible = plan.device_bytes <= available;
  if (plan.feasible) return plan;
  const auto least = static_cast<double>(std::min(samples, kMinStreamedRows));
  const double fitting = available / (kBatchBuffers * row_bytes);
  const double batch =
      std::clamp(std::min(fitting, kStreamedBatchBytes / row_bytes), least, std::max(n, least));
  plan.batch_rows = static_cast<std::int64_t>(batch);
  const double buffers = kBatchBuffers * static_cast<double>(plan.batch_rows) * row_bytes;
  plan.resident_rows = static_cast<std::int64_t>(std::max((available - buffers) / row_bytes, 0.0));
  plan.device_bytes = buffers + static_cast<double>(plan.resident_rows) * row_bytes;
  plan.host_bytes = 2 * static_cast<double>(plan.batch_rows) * row_bytes;
  plan.feasible = plan.device_bytes <= available;
  return plan;
}

}  // namespace lloyd_cuda
