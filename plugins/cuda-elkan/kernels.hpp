// The kernels of cuda-elkan and what they work on. All arrays are device memory, samples lie one
// after the other, and all kernels return at once when the pass is halted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bounds.hpp"
#include "cuda/pass.hpp"

namespace lloyd_cuda_elkan {

/// What is known of samples: bounds in stored form, see store_lower() and store_upper().
struct SampleBounds {
  float* upper = nullptr;       ///< n: of the distance to the own centroid
  float* lower = nullptr;       ///< n: of the distance to every other centroid
  float* groups = nullptr;      ///< n x groups: to the others of a group; null where there is one
  std::int64_t group_size = 1;  ///< centroids of a group: a power of two; the last may have fewer
  std::int64_t count = 1;       ///< groups
};

/// What is known of centroids.
struct CentroidMoves {
  double* total = nullptr;             ///< k: how far they moved
  double* group_total = nullptr;       ///< groups: sum of the farthest moves of a member
  double* max_total = nullptr;         ///< 1: sum of the farthest moves
  Drift* drift = nullptr;              ///< k: `total`, published
  Drift* group_drift = nullptr;        ///< groups
  Drift* max_drift = nullptr;          ///< 1
  unsigned int* group_move = nullptr;  ///< groups + 1: bits of this pass's farthest move, of a
                                       ///< group's members and of all; 0 between passes
  float* nearest_other = nullptr;      ///< k: lower bound of the distance to the nearest other
  float* separation = nullptr;         ///< k x groups, behind `nearest_other`: to the nearest other
                                       ///< of a group; or null
};

/// How much a part takes; one in device memory.
struct Work {
  unsigned long long distances;  ///< evaluated since the fit began
  unsigned long long scanned;    ///< evaluated by the scan of the part
  unsigned int listed;           ///< samples of the part that the screen could not settle
  unsigned int changed;          ///< samples of the part whose label changed
  float per_sample;              ///< distances that a listed sample is expected to take
  std::int32_t all;              ///< whether the part is assigned afresh instead of scanned
  std::int32_t filled;           ///< whether the last pass left bounds
  std::int32_t ready;            ///< whether this pass finds bounds
};

/// Samples of a part; rows count from its first.
struct PartLists {
  std::uint32_t* listed = nullptr;       ///< rows that the screen could not settle
  double* own_distance = nullptr;        ///< their squared distance to their own centroid
  std::uint32_t* changed = nullptr;      ///< rows whose label changed; null: not wanted
  std::int32_t* former_label = nullptr;  ///< of them
};

/// What every kernel of a part is given.
template <class T>
struct Part {
  lloyd_cuda::Pass pass;           ///< with the rows of the part
  lloyd_cuda::Samples<T> samples;  ///< hold them
  SampleBounds bounds;
  CentroidMoves moves;
  PartLists lists;
  Work* work = nullptr;
};

/// Threads of a block in kernels whose warps take many registers; a larger block_size is cut.
inline constexpr int kMaxWarpThreads = 256;

/// What launches are made of.
struct Grid {
  int block_size = 0;       ///< threads of a block: a multiple of 32
  int multiprocessors = 0;  ///< of the card
  int shared_bytes = 0;     ///< the most that a block can have

  /// Threads of a block whose warps work on their own, with `bytes` of shared memory each.
  int threads(std::size_t bytes) const {
    const int fitting = static_cast<int>(static_cast<std::size_t>(shared_bytes) / bytes);
    return 32 * std::clamp(fitting, 1, std::min(block_size, kMaxWarpThreads) / 32);
  }
  /// Blocks for a number of them that could be busy: not more than the card can hold.
  int blocks(std::int64_t wanted, int block_threads) const {
    return static_cast<int>(std::clamp<std::int64_t>(
        wanted, 1, std::int64_t{multiprocessors} * (2048 / block_threads)));
  }
};

/// Begins a pass with bounds: moves of the former centroids to those of the pass, and distances
/// between these.
void enqueue_moves(const lloyd_cuda::Pass& pass, std::int64_t features, const SampleBounds& bounds,
                   const CentroidMoves& moves, Work* work, const Grid& grid);

/// Empties the lists of a part, having learnt from the one before what a listed sample takes.
void enqueue_begin(const lloyd_cuda::Pass& pass, Work* work);

/// Lists the samples of a part whose label the bounds of the sample itself do not settle, and
/// decides whether scanning them pays.
template <class T>
void enqueue_screen(const Part<T>& part, const Grid& grid);

/// Settles the listed samples: a warp each, which looks at all bounds and computes what they leave.
template <class T>
void enqueue_scan(const Part<T>& part, const Grid& grid);

/// Assigns all samples of a part with all distances. With bounds: after a scan, only where there
/// were no bounds yet or scanning did not pay, and leaving bounds; without: always, leaving none.
template <class T>
void enqueue_assign_all(const Part<T>& part, bool with_bounds, const Grid& grid);

/// Adds all samples of a part to `totals`, by their labels.
template <class T>
void enqueue_sums(const Part<T>& part, const lloyd_cuda::Totals& totals, const Grid& grid);

/// Moves the changed samples of a part, within `totals`, from their former cluster to their own.
template <class T>
void enqueue_changed_sums(const Part<T>& part, const lloyd_cuda::Totals& totals, const Grid& grid);

/// Adds `totals` (k x d sums, k counts) to those of the pass.
void enqueue_publication(const lloyd_cuda::Pass& pass, std::int64_t features,
                         const lloyd_cuda::Totals& totals);

}  // namespace lloyd_cuda_elkan
