// FastPlan: the memory of cuda-fast. Pure functions of sizes, without CUDA.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda-fast/common/screen_shape.hpp"
#include "cuda/fused/iterations_layout.hpp"
#include "cuda/resident/store_plan.hpp"

namespace lloyd_cuda_fast {

/// Sizes on which a plan depends.
struct FastProblem {
  std::int64_t samples = 0;       ///< n
  std::int64_t features = 0;      ///< d
  std::int64_t clusters = 0;      ///< k
  double row_bytes = 0;           ///< of a resident sample; 0: it is read in place
  bool uses_tensor_cores = true;  ///< false: ScreenPath::direct
  bool may_fuse = false;          ///< true: one kernel labels and sums if all samples fit
  std::int64_t shared_bytes = 0;  ///< DeviceLimits::shared_bytes_per_block
  int multiprocessors = 0;        ///< of the device
};

/// What is kept in device memory, and the rows that are processed at a time: a slab.
struct FastPlan {
  bool fused = false;           ///< true: one kernel labels and sums, without `shape` and slabs
  ScreenShape shape;            ///< not feasible: the screen is direct
  lloyd_cuda::StorePlan store;  ///< device_bytes includes the fragments, if kept
  /// True: the fragments of all samples stay in device memory. False: those of a slab are computed
  /// in every pass.
  bool keeps_fragments = false;
  std::int64_t slab_rows = 0;
  std::int64_t open_capacity = 0;  ///< OpenSamples::capacity
  std::int64_t grid_words = 0;     ///< 64-bit words of GridSums, for any number of limbs; if fused
  double workspace_bytes = 0;  ///< GridSums, or the arrays of a slab and the converted centroids

  double device_bytes() const { return store.device_bytes + workspace_bytes; }
};

/// Maximum rows of a slab. A sorted entry holds a row in 31 bits; twice as many entries are counted
/// in 32 bits.
inline constexpr std::int64_t kMaxSlabRows = std::int64_t{1} << 24;
/// Minimum, unless there are fewer samples.
inline constexpr std::int64_t kMinSlabRows = 1024;
/// Maximum scores of a slab times d, so that a cancelled pass ends soon.
inline constexpr double kMaxSlabWork = 1e12;
/// Maximum bytes of the arrays of a slab; a quarter of the available memory if that is less.
inline constexpr double kMaxSlabBytes = 512.0 * (1 << 20);

/// Device memory for the fragments and norms of a row.
constexpr double fragment_row_bytes(const ScreenShape& shape) {
  return shape.is_feasible() ? static_cast<double>(shape.fragment_bytes()) / 16 + 8 : 0;
}

/// Bytes of a slab per row: hard samples, changed samples (rows, former labels, sorted twice), and,
/// with tensor cores, summaries, the overflow, slots of open samples for a quarter of the rows
/// (rows, limits, counts, candidates), and perhaps fragments.
constexpr double slab_row_bytes(const ScreenShape& shape, bool with_fragments) {
  const double screen = shape.is_feasible() ? 12.0 * shape.parts + 4 + (12 + 32) / 4.0 : 0;
  return 4 + 16 + screen + (with_fragments ? fragment_row_bytes(shape) : 0);
}

/// The plan for a problem within `available` bytes of device memory.
inline FastPlan plan_fast(const FastProblem& problem, double available) {
  FastPlan plan;
  if (problem.may_fuse) {
    plan.grid_words = lloyd_cuda_fused::kGridSlots *
                      lloyd_cuda_fused::grid_slot_words(problem.clusters, problem.features,
                                                        lloyd_cuda_fused::kMaxLimbs);
    plan.workspace_bytes = 8.0 * static_cast<double>(plan.grid_words);
    plan.store = lloyd_cuda::plan_store(problem.samples, problem.row_bytes,
                                        std::max(available - plan.workspace_bytes, 0.0));
    plan.fused = plan.store.is_resident();
    if (plan.fused) return plan;
    plan.grid_words = 0;
  }
  if (problem.uses_tensor_cores) {
    plan.shape = screen_shape(problem.clusters, problem.features, problem.shared_bytes,
                              problem.multiprocessors);
  }
  // The converted centroids (ConvertedCentroids), and the counters, offsets and cursors of the
  // sort.
  const auto k = static_cast<double>(problem.clusters);
  const double fixed =
      static_cast<double>(plan.shape.parts) * static_cast<double>(plan.shape.part_bytes()) +
      4 * k * static_cast<double>(problem.features) + k * (5 + 16) + 4096;
  const auto plan_with = [&](bool keeps_fragments) {
    const double slab_row = slab_row_bytes(plan.shape, !keeps_fragments);
    const double bytes = std::min(kMaxSlabBytes, (available - fixed) / 4);
    const double work = kMaxSlabWork / (k * static_cast<double>(problem.features));
    const auto rows = static_cast<std::int64_t>(std::clamp(std::min(bytes / slab_row, work),
                                                           static_cast<double>(kMinSlabRows),
                                                           static_cast<double>(kMaxSlabRows)));
    // A slab may begin within a tile: its arrays have room for one more tile.
    plan.slab_rows = std::min(rows, problem.samples + kTileRows) / kTileRows * kTileRows;
    plan.slab_rows = std::max<std::int64_t>(plan.slab_rows, kTileRows);
    plan.open_capacity = plan.slab_rows / 4;
    plan.workspace_bytes = fixed + static_cast<double>(plan.slab_rows + kTileRows) * slab_row;
    plan.keeps_fragments = keeps_fragments;
    const double row = problem.row_bytes + (keeps_fragments ? fragment_row_bytes(plan.shape) : 0);
    plan.store = lloyd_cuda::plan_store(problem.samples, row,
                                        std::max(available - plan.workspace_bytes, 0.0));
  };
  plan_with(true);
  if (!plan.store.is_resident()) plan_with(false);
  return plan;
}

}  // namespace lloyd_cuda_fast
