// pass_kernel: labels the rows of a pass by a labeller, and sums them in shared memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/device/check.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/fused/block_sums.cuh"
#include "cuda/fused/fused_pass.hpp"
#include "cuda/passes/finish_iteration.cuh"
#include "cuda/passes/halt_flag.cuh"

namespace lloyd_cuda_fused {

using lloyd_cuda::Finish;
using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

// A Labeller assigns rows to clusters. It has
// - Value: the type of samples;
// - kFeatures: d if it is known at compile time, otherwise 0;
// - kMaxThreads: maximum threads of a block;
// - Arguments: passed to kernels by value;
// - Labeller(arguments, k, d, shared): `shared` has Configuration::centroids_bytes, aligned to 16;
// - load(pass), load(centroids): prepare for the centroids of a pass, or for k x d values in shared
//   memory. All threads of the block call it; a barrier follows;
// - label(samples, rows, in_range, labels): sets the labels of kRows rows per thread. All threads
//   of a warp call it. Rows out of range repeat the last one; their labels are not used;
// - finish(): called by all threads at the end of a kernel.

// Samples per thread, so that a centroid that is read serves several.
constexpr int kRows = 2;

// True if the lanes of a warp add the features of 32 / D rows together. D then divides 32, and rows
// are contiguous.
template <int D>
constexpr bool kCooperate = D >= 8;

constexpr unsigned int kFullWarp = 0xffffffffu;

// Destination of sums: shared memory, or the totals in global memory if the sums of a block do not
// fit and only changed samples are added.
struct SumTarget {
  BlockSums& block;
  const Pass& pass;
  bool uses_block;
  std::int64_t features;

  // Adds feature j of a sample, a multiple of 2^exponent, to a cluster, or subtracts it (sign =
  // -1).
  template <class T>
  __device__ void add(std::int64_t label, std::int64_t j, T x, int exponent, int sign) {
    const T value = sign < 0 ? -x : x;
    if (uses_block) {
      lloyd_cuda::add_to_limbs(block.sum_of(label) + j, block.tile.limb_stride, value, exponent);
    } else {
      lloyd_cuda::atomic_add(pass.totals.sums + label * features + j,
                             lloyd_cuda::exact_value(value, pass.scale, j));
    }
    if (j == 0) count(label, sign);
  }
  __device__ void count(std::int64_t label, int sign) {
    if (uses_block) {
      block.count(label, sign);
    } else {
      atomicAdd(pass.totals.counts + label,
                static_cast<unsigned long long>(static_cast<long long>(sign)));
    }
  }
};

// Adds rows of a warp to the clusters `to`, and subtracts them from the clusters `from` (-1: none).
// Each lane holds the labels of one row; rows with to = -1 are left out. Neighbouring lanes add
// neighbouring features of a row, so that they access different banks. Rows are contiguous, and
// `exponent` is that of feature `lane % D`.
template <int D, class T>
__device__ inline void add_rows(SumTarget& target, const Samples<T>& samples,
                                std::int64_t first_row, std::int32_t to, std::int32_t from,
                                int exponent) {
  constexpr int kRowsTogether = 32 / D;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int feature = lane % D;
  unsigned int pending = __ballot_sync(kFullWarp, to >= 0);
  while (pending != 0) {
    int row = -1;
#pragma unroll
    for (int r = 0; r < kRowsTogether; ++r) {
      if (lane / D == r) row = __ffs(static_cast<int>(pending)) - 1;  // -1 if none is left
      pending &= pending - 1;
    }
    const int source = row < 0 ? 0 : row;
    const std::int32_t row_to = __shfl_sync(kFullWarp, to, source);
    const std::int32_t row_from = __shfl_sync(kFullWarp, from, source);
    if (row < 0) continue;
    const T x = samples.row(first_row + row)[feature];
    target.add(row_to, feature, x, exponent, 1);
    if (row_from >= 0) target.add(row_from, feature, x, exponent, -1);
  }
}

// The rows of a warp that change the sums, collected until there is one for every lane. In shared
// memory.
template <class T, int D>
class ChangeQueue {
 public:
  // `memory` holds kQueueBytes for each warp of the block. `first_row` is the first row of the
  // block.
  __device__ ChangeQueue(SumTarget& target, const Samples<T>& samples, char* memory,
                         std::int64_t first_row)
      : target_(target),
        samples_(samples),
        entries_(reinterpret_cast<Entry*>(memory + threadIdx.x / 32 * kQueueBytes)),
        first_row_(first_row) {}

  // Adds a row per lane to the cluster `to`, and subtracts it from the cluster `from` (-1: none).
  // Lanes with to = -1 have no row.
  __device__ void push(std::int64_t row, std::int32_t to, std::int32_t from) {
    const unsigned int mask = __ballot_sync(kFullWarp, to >= 0);
    if (mask == 0) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (to >= 0) {
      entries_[count_ + __popc(mask & ((1u << lane) - 1))] = {
          static_cast<std::int32_t>(row - first_row_), to, from};
    }
    count_ += __popc(mask);
    __syncwarp();
    if (count_ < 32) return;
    count_ -= 32;
    add(entries_[count_ + lane]);
    __syncwarp();
  }
  // Adds what is left.
  __device__ void drain() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane < count_) add(entries_[lane]);
    count_ = 0;
    __syncwarp();
  }

 private:
  struct Entry {
    std::int32_t row, to, from;
  };
  static_assert(2 * 32 * sizeof(Entry) == kQueueBytes);

  __device__ void add(const Entry& entry) {
    const T* const x = samples_.row(first_row_ + entry.row);
    const int features = D > 0 ? D : static_cast<int>(samples_.features);
#pragma unroll
    for (int j = 0; j < features; ++j) {
      const T value = x[j * samples_.feature_stride];
      const int exponent = target_.pass.scale.exponents[j];
      target_.add(entry.to, j, value, exponent, 1);
      if (entry.from >= 0) target_.add(entry.from, j, value, exponent, -1);
    }
  }

  SumTarget& target_;
  const Samples<T>& samples_;
  Entry* entries_;
  std::int64_t first_row_;
  int count_ = 0;  // the same in all lanes
};

// What a block does with the rows that it labels.
struct RowWork {
  bool accumulates;     // adds them to the block's sums
  bool updates_totals;  // adds those that change to the totals in global memory
  bool reads_labels;    // compares labels with the former ones and writes those that change
};

// Assigns and sums rows of a pass: every block of the grid takes its share of them. `queues` is
// shared memory of kQueueBytes per warp, used unless kCooperate<D>. flush() is called by all
// threads of the block, between two barriers, before the sums could overflow; they are cleared
// after it. Returns how many labels this thread changed.
template <class Labeller, class Flush>
__device__ inline unsigned int assign_rows(const Pass& pass,
                                           const Samples<typename Labeller::Value>& samples,
                                           Labeller& labeller, const RowWork& work, BlockSums& sums,
                                           char* queues, const Flush& flush) {
  using T = typename Labeller::Value;
  constexpr int D = Labeller::kFeatures;
  constexpr int kWarpRows = 32 * kRows;
  const std::int64_t d = samples.features;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t share = (pass.rows.size() + gridDim.x - 1) / gridDim.x;
  const std::int64_t block_rows = (share + 31) / 32 * 32;  // aligned for loads of warps
  const std::int64_t block_begin = pass.rows.begin + blockIdx.x * block_rows;
  // Rows of the block are counted from block_begin.
  const auto rows_of_block = static_cast<int>(
      max(min(block_rows, pass.rows.end - block_begin), static_cast<std::int64_t>(0)));
  const int tile_rows = static_cast<int>(blockDim.x) * kRows;
  SumTarget target{sums, pass, work.accumulates, d};
  ChangeQueue<T, D> queue(target, samples, queues, block_begin);
  const bool adds = work.accumulates || work.updates_totals;
  int exponent = 0;
  if constexpr (kCooperate<D>) {
    if (work.accumulates) exponent = pass.scale.exponents[lane % D];
  }
  int rows_since_flush = 0;
  unsigned int changed = 0;
  for (int tile = 0; tile < rows_of_block; tile += tile_rows) {
    if (work.accumulates && rows_since_flush + tile_rows > lloyd_cuda::kSharedLimbRows) {
      if constexpr (!kCooperate<D>) queue.drain();
      __syncthreads();
      flush();
      __syncthreads();
      sums.clear();
      __syncthreads();
      rows_since_flush = 0;
    }
    rows_since_flush += tile_rows;
    const int warp_begin = tile + static_cast<int>(threadIdx.x / 32) * kWarpRows;
    if (warp_begin >= rows_of_block) continue;

    // Threads beyond the last row process it again without effect.
    std::int64_t rows[kRows];
    bool in_range[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = warp_begin + r * 32 + lane;
      in_range[r] = row < rows_of_block;
      rows[r] = block_begin + (in_range[r] ? row : rows_of_block - 1);
    }
    std::int32_t formers[kRows];  // read early, so that they arrive while centroids are compared
#pragma unroll
    for (int r = 0; r < kRows; ++r) formers[r] = work.reads_labels ? pass.labels[rows[r]] : -1;
    std::int32_t labels[kRows];
    labeller.label(samples, rows, in_range, labels);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int32_t label = labels[r];
      std::int32_t former = -1;
      if (in_range[r] && work.reads_labels) {
        former = formers[r];
        if (former != label) {
          ++changed;
          pass.labels[rows[r]] = label;
        }
      }
      if (!adds) continue;
      std::int32_t to = in_range[r] ? label : -1;
      if (!pass.sums_only_changes) {
        former = -1;
      } else if (former == label) {
        to = -1;
      }
      if constexpr (kCooperate<D>) {
        add_rows<D>(target, samples, block_begin + warp_begin + r * 32, to, former, exponent);
      } else {
        queue.push(rows[r], to, former);
      }
    }
  }
  if constexpr (!kCooperate<D>) queue.drain();
  return changed;
}

// The sum over the warp, in lane 0.
__device__ inline unsigned int sum_of_warp(unsigned int value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(kFullWarp, value, offset);
  }
  return value;
}

// Assigns and sums the rows of a pass, grid-wide. Returns false for all threads of a block if the
// fit has halted.
template <class Labeller>
__device__ inline bool run_pass(const Pass& pass, const Samples<typename Labeller::Value>& samples,
                                const typename Labeller::Arguments& arguments,
                                const Configuration& configuration,
                                unsigned long long* shared_memory) {
  const bool halted = lloyd_cuda::read_halted(pass.halt);
  Labeller labeller(arguments, pass.clusters, samples.features, shared_memory);
  labeller.load(pass);
  RowWork work;
  work.accumulates = configuration.fused && pass.accumulates();
  work.updates_totals = !configuration.fused && sums_changes_only(pass);
  work.reads_labels = pass.changed != nullptr || !configuration.fused;
  auto* const block_memory =
      reinterpret_cast<unsigned int*>(shared_memory + configuration.centroids_bytes / 8);
  BlockSums sums(configuration.tile, block_memory, 0, 0);
  if (work.accumulates) sums.clear();
  if (__syncthreads_or(halted) != 0) return false;
  char* const queues =
      reinterpret_cast<char*>(block_memory) + (work.accumulates ? configuration.tile_bytes : 0);
  const auto flush = [&] { sums.flush(pass.totals, pass.scale, pass.clusters, samples.features); };
  const unsigned int changed =
      sum_of_warp(assign_rows(pass, samples, labeller, work, sums, queues, flush));
  if (threadIdx.x % 32 == 0 && pass.changed != nullptr && changed != 0) {
    atomicAdd(pass.changed, static_cast<unsigned long long>(changed));
  }
  labeller.finish();
  if (work.accumulates) {
    __syncthreads();
    flush();
  }
  return true;
}

// If `finish` has no state, the iteration is not finished.
template <class Labeller>
__global__ void __launch_bounds__(Labeller::kMaxThreads, 1)
    pass_kernel(Pass pass, Samples<typename Labeller::Value> samples,
                typename Labeller::Arguments arguments, Configuration configuration,
                Finish finish) {
  extern __shared__ __align__(16) unsigned long long shared_memory[];
  if (!run_pass<Labeller>(pass, samples, arguments, configuration, shared_memory)) return;
  if (finish.state == nullptr) return;
  finish_iteration(finish, *reinterpret_cast<lloyd_cuda::DecisionMemory*>(shared_memory));
}

// A launch: blocks, threads per block and bytes of dynamic shared memory.
struct Grid {
  unsigned int blocks;
  int threads;
  std::int64_t bytes;
};

// The grid of a kernel that shares rows among blocks; all blocks are resident at the same time.
// bytes_of(threads) is the dynamic shared memory of a block.
template <class Labeller, class Kernel, class BytesOf>
Grid grid_for(Kernel* kernel, std::int64_t rows, int max_threads, Device& device,
              const BytesOf& bytes_of) {
  constexpr int kMinBlockSize = 128;  // blocks are not made smaller than this to fill the card
  // The fewer blocks there are, the fewer sums are added to the totals.
  int threads = std::min(max_threads, Labeller::kMaxThreads);
  while (threads > kMinBlockSize &&
         rows < static_cast<std::int64_t>(threads) * kRows * device.limits.multiprocessors) {
    threads = threads / 64 * 32;
  }
  const std::int64_t bytes = bytes_of(threads);
  lloyd_cuda::allow_shared_memory(kernel, bytes, device.limits.shared_bytes_per_block);
  const int resident = device.occupancy.blocks(kernel, threads, bytes);
  const std::int64_t tile_rows = static_cast<std::int64_t>(threads) * kRows;
  const std::int64_t tiles = (rows + tile_rows - 1) / tile_rows;
  const std::int64_t per_multiprocessor =
      std::clamp(kThreadsPerMultiprocessor / threads, 1, resident);
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>(tiles, device.limits.multiprocessors * per_multiprocessor));
  return {blocks, threads, bytes};
}

/// Labels the rows of a pass. If the configuration is fused and the pass accumulates, the same
/// kernel adds them to the totals, and finishes the iteration if `finish` is given. If it is not
/// fused, the kernel adds only rows whose label changes, directly to the totals, and only if
/// sums_changes_only().
template <class Labeller>
void launch_pass(const Pass& pass, const Samples<typename Labeller::Value>& samples,
                 const typename Labeller::Arguments& arguments, const Configuration& configuration,
                 Device& device, const Finish& finish) {
  const bool accumulates = configuration.fused && pass.accumulates();
  const auto bytes_of = [&](int threads) {
    std::int64_t bytes =
        configuration.centroids_bytes + (accumulates ? configuration.tile_bytes : 0) +
        (kCooperate<Labeller::kFeatures> ? 0 : Configuration::queue_bytes(threads));
    if (finish.state != nullptr) {
      bytes = std::max<std::int64_t>(bytes, sizeof(lloyd_cuda::DecisionMemory));
    }
    return bytes;
  };
  const auto kernel = pass_kernel<Labeller>;
  const auto [blocks, threads, bytes] =
      grid_for<Labeller>(kernel, pass.rows.size(), configuration.block_size, device, bytes_of);
  kernel<<<blocks, threads, static_cast<std::size_t>(bytes), pass.stream>>>(
      pass, samples, arguments, configuration, finish);
  lloyd_cuda::check_launch("pass_kernel");
}

}  // namespace lloyd_cuda_fused
