// The kernel that runs iterations of a fit, in one block or in a cooperative grid. Centroids and
// sums stay in shared memory from one iteration to the next. In a grid, every block has a copy of
// them and computes the same means from the same sums.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>

#include "cuda/fused/fused_pass.cuh"
#include "cuda/fused/grid_sums.cuh"
#include "cuda/fused/iterations_layout.hpp"

namespace lloyd_cuda_fused {

using lloyd_cuda::DecisionMemory;
using lloyd_cuda::DeviceInt128;
using lloyd_cuda::IterationArguments;
using lloyd_cuda::LoopState;

static_assert(kDecisionBytes == sizeof(DecisionMemory));

// What a block keeps from one iteration to the next, in shared memory. Addresses are computed where
// they are used, so that the loop over rows keeps its registers.
struct BlockState {
  char* memory;
  const IterationsLayout& layout;
  std::int64_t cells;  // k d

  // k x d centroids of an even iteration of the launch, or of an odd one.
  __device__ double* centroids(int iteration) const {
    return reinterpret_cast<double*>(memory + layout.centroids) + iteration % 2 * cells;
  }
  // k x d
  __device__ DeviceInt128* sums() const {
    return reinterpret_cast<DeviceInt128*>(memory + layout.totals);
  }
  // k
  __device__ long long* counts() const {
    return reinterpret_cast<long long*>(memory + layout.counts);
  }
  // The number of labels that the block has changed in the current iteration.
  __device__ int& changed() const { return *reinterpret_cast<int*>(memory + layout.changed); }
  // Not in use at the same time as the block's sums.
  __device__ DecisionMemory& decision() const {
    return *reinterpret_cast<DecisionMemory*>(memory + layout.sums);
  }
};

// Arguments of iteration `i` of the launch.
__device__ inline const IterationArguments& arguments_of(const IterationArguments& first,
                                                         const IterationArguments& second, int i) {
  return i % 2 == 0 ? first : second;
}

// Reads centroids and totals.
__device__ inline void load(const IterationArguments& arguments, std::int64_t cells,
                            const BlockState& state) {
  const Finish& finish = arguments.finish;
  for (std::int64_t at = threadIdx.x; at < cells; at += blockDim.x) {
    state.centroids(0)[at] = arguments.pass.centroids[at];
    const lloyd::SumWords sum = finish.totals.sums[at];
    state.sums()[at] = {sum.low, sum.high};
  }
  for (std::int64_t c = threadIdx.x; c < finish.clusters; c += blockDim.x) {
    state.counts()[c] = static_cast<long long>(finish.totals.counts[c]);
  }
}

// Writes centroids and totals to where iteration `arguments` reads them. `slot`: of
// BlockState::centroids(). `moved`: also the former centroids.
__device__ inline void store(const IterationArguments& arguments, const IterationArguments& other,
                             std::int64_t cells, const BlockState& state, int slot, bool moved) {
  for (std::int64_t at = threadIdx.x; at < cells; at += blockDim.x) {
    const double centroid = state.centroids(slot)[at];
    other.finish.next_centroids[at] = centroid;
    if (other.finish.next_rounded != nullptr) {
      other.finish.next_rounded[at] = static_cast<float>(centroid);
    }
    if (moved) arguments.finish.next_centroids[at] = state.centroids(slot + 1)[at];
    arguments.finish.totals.sums[at] = {state.sums()[at].low, state.sums()[at].high};
  }
  for (std::int64_t c = threadIdx.x; c < arguments.finish.clusters; c += blockDim.x) {
    arguments.finish.totals.counts[c] = static_cast<unsigned long long>(state.counts()[c]);
  }
}

// What an iteration adds to the totals, if a single block runs it.
struct ChangesOfBlock {
  const BlockSums& sums;
  int limbs;
  const int* changed_labels;
  bool is_cancelled;  // in thread 0

  __device__ DeviceInt128 sum(int cluster, int feature) const {
    return sums.total(cluster, feature, limbs);
  }
  __device__ long long count(int cluster) const { return sums.total_count(cluster); }
  __device__ long long changed() const { return *changed_labels; }
  __device__ bool cancelled() const { return is_cancelled; }
};

// The same for a grid of several blocks.
struct ChangesOfGrid {
  const GridSums& sums;
  int slot;

  __device__ DeviceInt128 sum(int cluster, int feature) const {
    return sums.sum(slot, cluster, feature);
  }
  __device__ long long count(int cluster) const { return sums.count(slot, cluster); }
  __device__ long long changed() const { return sums.changed(slot); }
  __device__ bool cancelled() const { return sums.cancelled(slot); }
};

// Adds the changes of an iteration to the totals. Sets `changed` to the number of changed labels in
// thread 0. Returns in all threads why the fit halts: kHaltNone, kHaltCancelled, or kHaltEmpty if
// it halts in that case.
template <class Changes>
__device__ inline lloyd_cuda::Halt add_changes(const Changes& changes, const Finish& finish,
                                               const BlockState& state, std::int64_t& changed) {
  const int clusters = static_cast<int>(finish.clusters);
  const int d = static_cast<int>(finish.features);
  const int step = static_cast<int>(blockDim.x);
  bool cancelled = false;
  if (threadIdx.x == 0) {
    cancelled = changes.cancelled();
    changed = changes.changed();
  }
  for (int at = static_cast<int>(threadIdx.x); at < clusters * d; at += step) {
    state.sums()[at] = state.sums()[at] + changes.sum(at / d, at % d);
  }
  bool empty = false;
  // From the last thread down, since the first threads have more cells.
  for (int c = step - 1 - static_cast<int>(threadIdx.x); c < clusters; c += step) {
    state.counts()[c] += changes.count(c);
    empty |= state.counts()[c] == 0;
  }
  if (__syncthreads_or(cancelled || (empty && finish.halt_when_empty)) == 0) {
    return lloyd_cuda::kHaltNone;
  }
  return __syncthreads_or(cancelled) != 0 ? lloyd_cuda::kHaltCancelled : lloyd_cuda::kHaltEmpty;
}

// Writes the next centroids.
__device__ inline void move_to_means(const Finish& finish, const BlockState& state,
                                     const double* from, double* to) {
  const int d = static_cast<int>(finish.features);
  const int cells = static_cast<int>(finish.clusters) * d;
  for (int at = static_cast<int>(threadIdx.x); at < cells; at += static_cast<int>(blockDim.x)) {
    const long long count = state.counts()[at / d];
    to[at] = count == 0 ? from[at]
                        : lloyd_cuda::mean_of(state.sums()[at], finish.scale.exponents[at % d],
                                              static_cast<unsigned long long>(count));
  }
}

// Runs `count` iterations, alternating between two sets of arguments. The results are those of
// `count` passes with finish_iteration(). `grid_memory`: the memory of GridSums; a single block
// does not use it.
template <class Labeller>
__global__ void __launch_bounds__(Labeller::kMaxThreads, 1)
    iterations_kernel(IterationArguments first, IterationArguments second, int count,
                      Samples<typename Labeller::Value> samples,
                      typename Labeller::Arguments labels, Configuration configuration,
                      IterationsLayout layout, unsigned long long* grid_memory) {
  extern __shared__ __align__(16) unsigned long long shared_memory[];
  const std::int64_t clusters = first.pass.clusters;
  const std::int64_t cells = clusters * samples.features;
  const bool is_alone = gridDim.x == 1;
  const bool is_first_block = blockIdx.x == 0;
  const GridSums grid_sums(grid_memory, clusters, samples.features,
                           first.finish.scale.shared_limbs);
  // The two sets of arguments differ only in arrays that are read and written once per launch.
  const Pass& pass = first.pass;
  const Finish& finish = first.finish;
  LoopState& loop = *finish.state;
  if (is_alone) {
    if (lloyd_cuda::block_halted(pass.halt)) return;
  } else {
    // All blocks must agree, but the flag may be set at any time. So only the first block reads it
    // and passes it on.
    constexpr int kLast = kGridSlots - 1;  // iteration 0 clears it
    if (is_first_block) {
      for (int slot = 0; slot < kGridSlots; ++slot) grid_sums.clear(slot);
      __syncthreads();
      if (lloyd_cuda::read_halted(pass.halt)) grid_sums.cancel(kLast);
    }
    cooperative_groups::this_grid().sync();
    if (grid_sums.cancelled(kLast)) return;
  }
  const BlockState state{reinterpret_cast<char*>(shared_memory), layout, cells};
  RowWork work;
  work.accumulates = true;
  work.updates_totals = false;
  work.reads_labels = pass.changed != nullptr;
  BlockSums sums(configuration.tile, reinterpret_cast<unsigned int*>(state.memory + layout.sums), 0,
                 0);
  Labeller labeller(labels, clusters, samples.features, shared_memory);
  std::int64_t finished = loop.iterations;
  load(first, cells, state);
  if (threadIdx.x == 0) state.changed() = 0;

  // Why the grid stops; the same in all threads.
  lloyd_cuda::Halt halt = lloyd_cuda::kHaltNone;
  std::int64_t labels_changed = 0;  // in thread 0
  int i = 0;
  for (; i < count && halt == lloyd_cuda::kHaltNone; ++i) {
    const int slot = i % kGridSlots;
    // Read early: the pass hides the latency.
    const bool cancelled = is_first_block && lloyd_cuda::read_halted(&loop.halt);
    __syncthreads();
    labeller.load(state.centroids(i));
    sums.clear();
    __syncthreads();
    const auto flush = [&] { grid_sums.add(slot, sums); };
    const unsigned int changed = sum_of_warp(
        assign_rows(pass, samples, labeller, work, sums, state.memory + layout.queues, flush));
    if (threadIdx.x % 32 == 0 && changed != 0) {
      atomicAdd(&state.changed(), static_cast<int>(changed));
    }
    __syncthreads();
    if (is_alone) {
      const ChangesOfBlock changes{sums, finish.scale.shared_limbs, &state.changed(), cancelled};
      halt = add_changes(changes, finish, state, labels_changed);
    } else {
      grid_sums.add(slot, sums);
      if (threadIdx.x == 0) {
        grid_sums.add_changed(slot, state.changed());
        if (cancelled) grid_sums.cancel(slot);
      }
      cooperative_groups::this_grid().sync();
      if (is_first_block) grid_sums.clear((slot + kGridSlots - 1) % kGridSlots);
      halt = add_changes(ChangesOfGrid{grid_sums, slot}, finish, state, labels_changed);
    }
    if (halt != lloyd_cuda::kHaltNone) break;
    const double* const centroids = state.centroids(i);
    double* const next = state.centroids(i + 1);
    move_to_means(finish, state, centroids, next);
    __syncthreads();
    const double shift = finish.shift_wanted
                             ? lloyd_cuda::block_shift(cells, state.decision().partial_sums,
                                                       [&](std::int64_t at) {
                                                         return __dsub_rn(next[at], centroids[at]);
                                                       })
                             : 0;
    ++finished;
    if (threadIdx.x == 0) {
      state.changed() = 0;
      state.decision().stops = lloyd_cuda::stops(finish, finished, labels_changed, 0, shift);
      if (is_first_block) {
        loop.last_changed = labels_changed;
        loop.shift = shift;
        loop.iterations = finished;
        if (!state.decision().stops)
          lloyd_cuda::report_progress(finish, finished, lloyd_cuda::kHaltNone);
      }
    }
    __syncthreads();
    if (state.decision().stops) halt = lloyd_cuda::kHaltStopped;
  }
  labeller.finish();
  if (!is_first_block) return;
  __syncthreads();
  const IterationArguments& next = arguments_of(first, second, i);
  store(next, arguments_of(first, second, i + 1), cells, state, i % 2, i > 0);
  if (threadIdx.x != 0) return;
  if (halt == lloyd_cuda::kHaltEmpty) {
    loop.changed = static_cast<unsigned long long>(labels_changed);
  }
  if (halt != lloyd_cuda::kHaltNone) lloyd_cuda::halt_and_report(next.finish, halt);
}

/// Runs `count` iterations over all samples in one kernel: in one block if suits_one_block(),
/// otherwise in a cooperative grid. `grid_memory`: device memory, kGridSlots * grid_slot_words()
/// words; may be null if one block suffices. Samples must be resident, and can_iterate() true. The
/// iterations alternate between two sets of arguments, neither of which has a Finish::ring; both
/// have Finish::keeps_totals. Throws StatusError if the launch fails.
template <class Labeller>
void launch_iterations(const IterationArguments& first, const IterationArguments& second, int count,
                       const Samples<typename Labeller::Value>& samples,
                       const typename Labeller::Arguments& arguments,
                       const Configuration& configuration, Device& device,
                       unsigned long long* grid_memory) {
  const Pass& pass = first.pass;
  const std::int64_t rows = pass.rows.size();
  const IterationsLayout layout =
      iterations_layout(configuration, pass.clusters, pass.clusters * samples.features);
  const auto kernel = iterations_kernel<Labeller>;
  Grid grid;
  if (suits_one_block(rows, pass.clusters, samples.features)) {
    // One thread for every kRows rows.
    grid = {1,
            static_cast<int>(std::clamp<std::int64_t>((rows + 32 * kRows - 1) / (32 * kRows) * 32,
                                                      128, Labeller::kMaxThreads)),
            layout.bytes};
    lloyd_cuda::allow_shared_memory(kernel, layout.bytes, device.limits.shared_bytes_per_block);
  } else {
    grid = grid_for<Labeller>(kernel, rows, configuration.block_size, device,
                              [&](int) { return layout.bytes; });
  }
  cudaLaunchAttribute cooperative = {};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(grid.blocks);
  launch.blockDim = dim3(static_cast<unsigned>(grid.threads));
  launch.dynamicSmemBytes = static_cast<std::size_t>(grid.bytes);
  launch.stream = pass.stream;
  launch.attrs = &cooperative;
  launch.numAttrs = grid.blocks > 1 ? 1 : 0;
  lloyd_cuda::check(cudaLaunchKernelEx(&launch, kernel, first, second, count, samples, arguments,
                                       configuration, layout, grid_memory),
                    "launching iterations_kernel");
}

}  // namespace lloyd_cuda_fused
