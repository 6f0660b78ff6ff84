// Cost model: scan the bounds, or compute all distances?
#pragma once

#include <cstdint>

#include "cuda/passes/samples.hpp"  // LLOYD_HOST_DEVICE

namespace lloyd_cuda_elkan {

/// Work of a part (a range of rows); all counts are of the part.
struct PartCost {
  std::int64_t samples = 0;   ///< rows
  std::int64_t features = 0;  ///< d
  std::int64_t clusters = 0;  ///< k
  std::int64_t groups = 0;    ///< lower bounds per sample
  std::int64_t listed = 0;    ///< samples that the screen left open
  float per_sample = 0;       ///< expected number of distances per listed sample
};

/// True if computing all distances of the part in tiles costs less than scanning bounds and
/// computing the remaining distances sample by sample. The constants are clock cycles of a quarter
/// of a multiprocessor, estimated from the instructions of both kernels.
LLOYD_HOST_DEVICE inline bool assigning_all_pays(const PartCost& cost) {
  const auto d = static_cast<float>(cost.features);
  const float pair = 1.4f + 0.19f * d;
  const float all = static_cast<float>(cost.samples) * static_cast<float>(cost.clusters) * pair;
  const float bounds = 0.5f * static_cast<float>(cost.groups);
  const float batches = 1 + cost.per_sample / 32;
  const float scan = 200 + bounds + d * (16 * batches + cost.per_sample);
  return all < static_cast<float>(cost.listed) * scan;
}

}  // namespace lloyd_cuda_elkan
