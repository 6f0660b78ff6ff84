// The kernels of cuda-elkan and their arguments. All arrays are in device memory, samples are
// row-major without gaps, and all kernels return at once if the pass is halted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bounds.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd_cuda_elkan {

/// Bounds of the samples in stored form, see store_lower() and store_upper().
struct SampleBounds {
  float* upper = nullptr;       ///< n: upper bound of the distance to the assigned centroid
  float* lower = nullptr;       ///< n: lower bound of the distance to every other centroid
  float* groups = nullptr;      ///< n x groups: the same per group; null if there is one group
  std::int64_t group_size = 1;  ///< centroids per group, a power of two; the last may have fewer
  std::int64_t count = 1;       ///< number of groups
};

/// Drifts and separations of the centroids.
struct CentroidMoves {
  double* total = nullptr;             ///< k: accumulated drift
  double* group_total = nullptr;       ///< groups: accumulated maximum drift of the members
  double* total_of_all = nullptr;      ///< 1: accumulated maximum drift of all centroids
  Drift* drift = nullptr;              ///< k: `total`, rounded outward
  Drift* group_drift = nullptr;        ///< groups: `group_total`, rounded outward
  Drift* drift_of_all = nullptr;       ///< 1: `total_of_all`, rounded outward
  unsigned int* group_move = nullptr;  ///< groups + 1: bits of this pass's largest float drift of
                                       ///< each group and of all; 0 between passes
  float* nearest_other = nullptr;      ///< k: lower bound of the distance to the nearest other
  float* separation = nullptr;         ///< k x groups, after `nearest_other`: lower bound of the
                                       ///< distance to the nearest other of a group; or null
};

/// Counters and decisions of a part, in device memory.
struct Work {
  unsigned long long distances;  ///< distances evaluated since the fit began
  unsigned long long scanned;    ///< distances evaluated by the scan of the part
  unsigned int listed;           ///< samples of the part that the screen left open
  unsigned int changed;          ///< samples of the part whose label changed
  float per_sample;              ///< expected number of distances per listed sample
  std::int32_t all;              ///< 1: all distances are computed instead of scanning
  std::int32_t filled;           ///< 1: the last pass stored bounds
  std::int32_t ready;            ///< 1: this pass can use bounds
};

/// Lists of samples of a part; rows are relative to the part.
struct PartLists {
  std::uint32_t* listed = nullptr;       ///< rows that the screen left open
  double* own_distance = nullptr;        ///< their squared distance to their own centroid
  std::uint32_t* changed = nullptr;      ///< rows with a changed label; null: not wanted
  std::int32_t* former_label = nullptr;  ///< former labels of these rows
};

/// Arguments of every kernel that works on a part.
template <class T>
struct Part {
  lloyd_cuda::Pass pass;           ///< with the rows of the part
  lloyd_cuda::Samples<T> samples;  ///< the samples of these rows
  SampleBounds bounds;
  CentroidMoves moves;
  PartLists lists;
  Work* work = nullptr;
};

/// Maximum threads per block of kernels that use many registers; a larger block_size is reduced.
inline constexpr int kMaxWarpThreads = 256;

/// Limits for launch configurations.
struct Grid {
  int block_size = 0;       ///< threads per block, a multiple of 32
  int multiprocessors = 0;  ///< multiprocessors of the device
  int shared_bytes = 0;     ///< maximum dynamic shared memory of a block

  /// Threads per block if each warp needs `bytes` of shared memory.
  int threads(std::size_t bytes) const {
    const int fitting = static_cast<int>(static_cast<std::size_t>(shared_bytes) / bytes);
    return 32 * std::clamp(fitting, 1, std::min(block_size, kMaxWarpThreads) / 32);
  }
  /// Blocks to launch if `wanted` could be busy: no more than are resident at once.
  int blocks(std::int64_t wanted, int block_threads) const {
    return static_cast<int>(std::clamp<std::int64_t>(
        wanted, 1, std::int64_t{multiprocessors} * (2048 / block_threads)));
  }
};

/// Begins a pass with bounds: computes the drift from the former centroids to those of the pass,
/// and the separations of the latter.
void enqueue_moves(const lloyd_cuda::Pass& pass, std::int64_t features, const SampleBounds& bounds,
                   const CentroidMoves& moves, Work* work, const Grid& grid);

/// Clears the lists of a part, after updating the expected number of distances per listed sample
/// from the previous part.
void enqueue_begin(const lloyd_cuda::Pass& pass, Work* work);

/// Screen: lists the samples of a part whose label is not proved by the sample's own two bounds,
/// and decides whether scanning them pays.
template <class T>
void enqueue_screen(const Part<T>& part, const Grid& grid);

/// Scan: decides the labels of the listed samples, one warp for each, by all bounds and the
/// distances that they leave open.
template <class T>
void enqueue_scan(const Part<T>& part, const Grid& grid);

/// Assigns all samples of a part with all distances. With bounds: runs only if there were no bounds
/// yet or scanning did not pay, and stores bounds. Without: runs always, and stores none.
template <class T>
void enqueue_assign_all(const Part<T>& part, bool with_bounds, const Grid& grid);

/// Adds all samples of a part to `totals` by their labels.
template <class T>
void enqueue_sums(const Part<T>& part, const lloyd_cuda::Totals& totals, const Grid& grid);

/// Moves the changed samples of a part from the sum of their former cluster to that of the new one,
/// in `totals`.
template <class T>
void enqueue_changed_sums(const Part<T>& part, const lloyd_cuda::Totals& totals, const Grid& grid);

/// Adds `totals` (k x d sums, k counts) to the totals of the pass.
void enqueue_publication(const lloyd_cuda::Pass& pass, std::int64_t features,
                         const lloyd_cuda::Totals& totals);

}  // namespace lloyd_cuda_elkan
