// Whether looking at bounds pays, or assigning all samples afresh is quicker.
#pragma once

#include <cstdint>

#include "../cuda/samples.hpp"  // LLOYD_CUDA_BOTH

namespace lloyd_cuda_elkan {

/// What a part would cost; counts are of the part.
struct PartCost {
  std::int64_t samples = 0;   ///< rows
  std::int64_t features = 0;  ///< d
  std::int64_t clusters = 0;  ///< k
  std::int64_t groups = 0;    ///< lower bounds of a sample
  std::int64_t listed = 0;    ///< samples that would be scanned
  float per_sample = 0;       ///< distances that a listed sample is expected to take
};

/// Whether all distances of the part, computed in tiles, cost less than those that bounds leave,
/// computed sample by sample. The figures are clocks of a multiprocessor's quarter, estimated from
/// the instructions of both kernels.
LLOYD_CUDA_BOTH inline bool assigning_all_pays(const PartCost& cost) {
  const auto d = static_cast<float>(cost.features);
  const float pair = 1.4f + 0.19f * d;
  const float all = static_cast<float>(cost.samples) * static_cast<float>(cost.clusters) * pair;
  const float bounds = 0.5f * static_cast<float>(cost.groups);
  const float batches = 1 + cost.per_sample / 32;
  const float scan = 200 + bounds + d * (16 * batches + cost.per_sample);
  return all < static_cast<float>(cost.listed) * scan;
}

}  // namespace lloyd_cuda_elkan
