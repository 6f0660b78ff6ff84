// When one kernel runs several iterations, and how much memory it needs.
#pragma once

#include <algorithm>
#include <cstdint>

#include <lloyd/plugin/abi/requests.hpp>
#include <lloyd/plugin/sdk/iteration_rules.hpp>

#include "cuda/device/device_limits.hpp"
#include "cuda/fused/configuration.hpp"

namespace lloyd_cuda_fused {

/// Offsets of the kernel's arrays in the block's shared memory, in bytes. That of the labeller
/// (Configuration::centroids_bytes) is at 0.
struct IterationsLayout {
  std::int64_t centroids = 0;  ///< two arrays of k x d float64 values: current and next
  std::int64_t totals = 0;     ///< k x d sums
  std::int64_t counts = 0;     ///< k counts
  std::int64_t changed = 0;    ///< the number of changed labels
  std::int64_t queues = 0;     ///< kQueueBytes for each warp
  /// BlockSums, or DecisionMemory after they have been added to the totals.
  std::int64_t sums = 0;
  std::int64_t bytes = 0;  ///< total size
};

/// Slots of GridSums.
inline constexpr int kGridSlots = 3;

/// Words of 64 bits per slot of GridSums: the limbs of k x d sums, k counts, the number of changed
/// labels, and whether the fit is cancelled.
constexpr std::int64_t grid_slot_words(std::int64_t clusters, std::int64_t features, int limbs) {
  return limbs * clusters * features + clusters + 2;
}

/// sizeof(lloyd_cuda::DecisionMemory), which this header does not include.
inline constexpr std::int64_t kDecisionBytes = lloyd::kShiftPartialSums * sizeof(double) + 8;

/// The layout for k clusters with `cells` = k d sums.
inline IterationsLayout iterations_layout(const Configuration& configuration, std::int64_t clusters,
                                          std::int64_t cells) {
  IterationsLayout layout;
  layout.centroids = configuration.centroids_bytes;
  layout.totals = layout.centroids + 2 * cells * static_cast<std::int64_t>(sizeof(double));
  layout.counts = layout.totals + cells * static_cast<std::int64_t>(sizeof(lloyd::SumWords));
  layout.changed = layout.counts + clusters * static_cast<std::int64_t>(sizeof(std::int64_t));
  layout.queues = layout.changed + 8;
  layout.sums = layout.queues + Configuration::queue_bytes(kMaxBlockThreads);
  layout.bytes = layout.sums + std::max(configuration.tile_bytes, kDecisionBytes);
  return layout;
}

/// True if one block is expected to run iterations faster than one launch per iteration.
constexpr bool suits_one_block(std::int64_t rows, std::int64_t clusters, std::int64_t features) {
  constexpr std::int64_t kMaxRows = 4096;
  constexpr double kMaxDifferences = 1 << 19;  // n k d
  const double differences =
      static_cast<double>(rows) * static_cast<double>(clusters) * static_cast<double>(features);
  return rows <= kMaxRows && differences <= kMaxDifferences;
}

/// True if launch_iterations() can run this configuration in a block: it is fused, with centroids
/// in shared memory, which also has room for what stays there from one iteration to the next.
inline bool can_iterate(const Configuration& configuration, std::int64_t clusters,
                        std::int64_t features, const lloyd_cuda::DeviceLimits& limits) {
  return configuration.fused && configuration.space == lloyd_cuda::CentroidSpace::shared &&
         iterations_layout(configuration, clusters, clusters * features).bytes <=
             limits.shared_bytes_per_block;
}

}  // namespace lloyd_cuda_fused
