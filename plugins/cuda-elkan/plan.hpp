// Memory plan: chooses the number of bounds per sample and whether all samples stay on the device.
// Pure functions of sizes, without CUDA.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lloyd_cuda_elkan {

/// Problem size for a plan.
struct PlanShape {
  std::int64_t samples = 0;      ///< n
  std::int64_t features = 0;     ///< d
  std::int64_t clusters = 0;     ///< k
  std::int64_t value_bytes = 0;  ///< bytes per value: 4 or 8; 0: samples are read in place
};

/// A memory plan.
struct Plan {
  bool feasible = false;        ///< true: the plan fits into the limit
  bool resident = false;        ///< true: all samples stay on the device
  std::int64_t group_size = 1;  ///< centroids that share a lower bound: a power of two
  std::int64_t groups = 1;      ///< lower bounds per sample: ceil(k / group_size)
  bool separations = false;     ///< true: separations of centroids and groups are kept
  std::int64_t part_rows = 0;   ///< maximum rows per part, and rows of a batch
  double device_bytes = 0;      ///< of the step; the minimum if not feasible
  double host_bytes = 0;        ///< pinned memory for batches
};

/// Rows for which the lists of samples have room.
inline constexpr std::int64_t kPartRows = std::int64_t{1} << 22;
/// Bytes per batch of samples, if memory allows.
inline constexpr double kBatchBytes = 64.0 * (1 << 20);
/// Minimum rows of a batch; smaller batches are not worth a copy.
inline constexpr std::int64_t kMinBatchRows = 1024;
/// Maximum size of the separations between centroids and groups, bytes.
inline constexpr double kSeparationBytes = 16.0 * (1 << 20);
/// Bytes of the lists per row of a part: a listed row and its squared distance, a changed row and
/// its former label.
inline constexpr double kListBytes = 4 + 8 + 4 + 4;

/// Bytes for the centroids' drifts, separations and sums.
inline double centroid_bytes(const PlanShape& shape, const Plan& plan) {
  const auto k = static_cast<double>(shape.clusters);
  const auto groups = static_cast<double>(plan.groups);
  const double drifts = (8 + 8) * (k + groups + 1) + 4 * (groups + 1);
  const double separations = 4 * k * (plan.separations ? 1 + groups : 1);
  const double sums = k * (16 * static_cast<double>(shape.features) + 8);
  return drifts + separations + sums;
}

/// The plan with groups of `group_size`, regardless of a limit; with batches of `batch_rows` rows,
/// or resident samples if it is 0.
inline Plan plan_of(const PlanShape& shape, std::int64_t group_size, std::int64_t batch_rows) {
  const auto n = static_cast<double>(shape.samples);
  const double row_bytes =
      static_cast<double>(shape.features) * static_cast<double>(shape.value_bytes);
  Plan plan;
  plan.resident = batch_rows == 0;
  plan.group_size = group_size;
  plan.groups = (shape.clusters + group_size - 1) / group_size;
  const double groups = static_cast<double>(plan.groups);
  plan.separations = 4 * static_cast<double>(shape.clusters) * groups <= kSeparationBytes;
  plan.part_rows = plan.resident ? std::min(shape.samples, kPartRows) : batch_rows;
  const auto part_rows = static_cast<double>(plan.part_rows);
  const double bounds = 8 * n + (plan.groups > 1 ? 4 * n * groups : 0);
  const double samples = plan.resident ? n * row_bytes : 2 * part_rows * row_bytes;
  plan.device_bytes = samples + bounds + part_rows * kListBytes + centroid_bytes(shape, plan);
  plan.host_bytes = plan.resident ? 0 : 2 * part_rows * row_bytes;
  return plan;
}

/// The plan for a limit of device memory, `reserved` bytes of which others use: as many bounds per
/// sample as fit beside all samples, else one bound per sample and samples in batches.
inline Plan choose_plan(const PlanShape& shape, double limit_bytes, double reserved) {
  const double available = limit_bytes - reserved;
  for (std::int64_t size = 1;; size *= size == 1 ? 8 : 4) {
    Plan plan = plan_of(shape, size, 0);
    plan.feasible = plan.device_bytes <= available;
    if (plan.feasible) return plan;
    if (size >= shape.clusters) break;
  }
  std::int64_t one_group = 1;
  while (one_group < shape.clusters) one_group *= 2;
  const double row_bytes =
      static_cast<double>(shape.features) * static_cast<double>(shape.value_bytes);
  const std::int64_t least_rows = std::min(shape.samples, kMinBatchRows);
  const double fixed = plan_of(shape, one_group, least_rows).device_bytes -
                       static_cast<double>(least_rows) * (2 * row_bytes + kListBytes);
  const double fitting = (available - fixed) / (2 * row_bytes + kListBytes);
  const double wanted = std::min(kBatchBytes / row_bytes, static_cast<double>(kPartRows));
  const double rows = std::clamp(std::min(fitting, wanted), static_cast<double>(least_rows),
                                 static_cast<double>(shape.samples));
  Plan plan = plan_of(shape, one_group, static_cast<std::int64_t>(rows));
  plan.feasible = plan.device_bytes <= available;
  return plan;
}

}  // namespace lloyd_cuda_elkan
