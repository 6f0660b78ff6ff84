// The kernel that runs iterations of a small fit in one block. Centroids, sums and counts stay in
// shared memory from one iteration to the next.
#pragma once

#include <algorithm>

#include "cuda/fused/fused_pass.cuh"
#include "cuda/fused/iterations_layout.hpp"

namespace lloyd_cuda_fused {

using lloyd_cuda::DecisionMemory;
using lloyd_cuda::DeviceInt128;
using lloyd_cuda::IterationArguments;
using lloyd_cuda::LoopState;

static_assert(kDecisionBytes == sizeof(DecisionMemory));

// What the iterations of a launch share, in shared memory.
struct BlockState {
  double* centroids[2];  // k x d each: of an even iteration of the launch, and of an odd one
  DeviceInt128* sums;    // k x d
  long long* counts;     // k
  int* changed;          // labels that the current iteration has changed
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
    state.centroids[0][at] = arguments.pass.centroids[at];
    const lloyd::SumWords sum = finish.totals.sums[at];
    state.sums[at] = {sum.low, sum.high};
  }
  for (std::int64_t c = threadIdx.x; c < finish.clusters; c += blockDim.x) {
    state.counts[c] = static_cast<long long>(finish.totals.counts[c]);
  }
}

// Writes centroids and totals to where iteration `arguments` reads them. `moved`: also the former
// centroids.
__device__ inline void store(const IterationArguments& arguments, const IterationArguments& other,
                             std::int64_t cells, const BlockState& state, int slot, bool moved) {
  for (std::int64_t at = threadIdx.x; at < cells; at += blockDim.x) {
    const double centroid = state.centroids[slot][at];
    other.finish.next_centroids[at] = centroid;
    if (other.finish.next_rounded != nullptr) {
      other.finish.next_rounded[at] = static_cast<float>(centroid);
    }
    if (moved) arguments.finish.next_centroids[at] = state.centroids[1 - slot][at];
    arguments.finish.totals.sums[at] = {state.sums[at].low, state.sums[at].high};
  }
  for (std::int64_t c = threadIdx.x; c < arguments.finish.clusters; c += blockDim.x) {
    arguments.finish.totals.counts[c] = static_cast<unsigned long long>(state.counts[c]);
  }
}

// Adds the sums of the block to those in `state`. Returns true in all threads if a cluster is
// empty.
__device__ inline bool add_sums(const BlockSums& sums, const Finish& finish,
                                const BlockState& state) {
  const int d = static_cast<int>(finish.features);
  const int cells = static_cast<int>(finish.clusters) * d;
  for (int at = static_cast<int>(threadIdx.x); at < cells; at += static_cast<int>(blockDim.x)) {
    state.sums[at] = state.sums[at] + sums.total(at / d, at % d, finish.scale.shared_limbs);
  }
  bool empty = false;
  for (std::int64_t c = threadIdx.x; c < finish.clusters; c += blockDim.x) {
    state.counts[c] += sums.total_count(c);
    empty |= state.counts[c] == 0;
  }
  return __syncthreads_or(empty) != 0;
}

// Writes the next centroids.
__device__ inline void move_to_means(const Finish& finish, const BlockState& state,
                                     const double* from, double* to) {
  const int d = static_cast<int>(finish.features);
  const int cells = static_cast<int>(finish.clusters) * d;
  for (int at = static_cast<int>(threadIdx.x); at < cells; at += static_cast<int>(blockDim.x)) {
    const long long count = state.counts[at / d];
    to[at] = count == 0 ? from[at]
                        : lloyd_cuda::mean_of(state.sums[at], finish.scale.exponents[at % d],
                                              static_cast<unsigned long long>(count));
  }
}

__device__ inline void clear_totals(std::int64_t clusters, std::int64_t cells,
                                    const BlockState& state) {
  for (std::int64_t at = threadIdx.x; at < cells; at += blockDim.x) state.sums[at] = {0, 0};
  for (std::int64_t c = threadIdx.x; c < clusters; c += blockDim.x) state.counts[c] = 0;
}

// Runs `count` iterations in one block, alternating between two sets of arguments. The results are
// those of `count` passes with finish_iteration().
template <class Labeller>
__global__ void __launch_bounds__(Labeller::kMaxThreads, 1)
    iterations_kernel(IterationArguments first, IterationArguments second, int count,
                      Samples<typename Labeller::Value> samples,
                      typename Labeller::Arguments labels, Configuration configuration,
                      IterationsLayout layout) {
  extern __shared__ __align__(16) unsigned long long shared_memory[];
  if (lloyd_cuda::block_halted(first.pass.halt)) return;
  const std::int64_t clusters = first.pass.clusters;
  const std::int64_t cells = clusters * samples.features;
  auto* const bytes = reinterpret_cast<char*>(shared_memory);
  auto* const block_memory = reinterpret_cast<unsigned int*>(bytes + layout.sums);
  auto& memory = *reinterpret_cast<DecisionMemory*>(bytes + layout.sums);
  BlockState state;
  state.centroids[0] = reinterpret_cast<double*>(bytes + layout.centroids);
  state.centroids[1] = state.centroids[0] + cells;
  state.sums = reinterpret_cast<DeviceInt128*>(bytes + layout.totals);
  state.counts = reinterpret_cast<long long*>(bytes + layout.counts);
  state.changed = reinterpret_cast<int*>(bytes + layout.changed);

  RowWork work;
  work.accumulates = true;
  work.updates_totals = false;
  work.reads_labels = first.pass.changed != nullptr;
  BlockSums sums(configuration.tile, block_memory, 0, 0);
  Labeller labeller(labels, clusters, samples.features, shared_memory);
  LoopState& loop = *first.finish.state;
  std::int64_t finished = loop.iterations;
  load(first, cells, state);
  if (threadIdx.x == 0) *state.changed = 0;

  // Why the block stops; the same in all threads.
  lloyd_cuda::Halt halt = lloyd_cuda::kHaltNone;
  int i = 0;
  for (; i < count && halt == lloyd_cuda::kHaltNone; ++i) {
    const IterationArguments& arguments = arguments_of(first, second, i);
    const Finish& finish = arguments.finish;
    double* const centroids = state.centroids[i % 2];
    double* const next = state.centroids[1 - i % 2];
    // Read early: the pass hides the latency.
    const std::int32_t halted =
        threadIdx.x == 0 ? *static_cast<volatile std::int32_t*>(&loop.halt) : 0;
    __syncthreads();
    labeller.load(centroids);
    sums.clear();
    __syncthreads();
    unsigned int changed =
        assign_rows(arguments.pass, samples, labeller, work, sums, bytes + layout.queues);
    if (work.reads_labels) {
      changed = sum_of_warp(changed);
      if (threadIdx.x % 32 == 0 && changed != 0) {
        atomicAdd(state.changed, static_cast<int>(changed));
      }
    }
    if (__syncthreads_or(halted) != 0) {
      halt = lloyd_cuda::kHaltCancelled;
      break;
    }
    if (add_sums(sums, finish, state) && finish.halt_when_empty) {
      halt = lloyd_cuda::kHaltEmpty;
      break;
    }
    move_to_means(finish, state, centroids, next);
    const int labels_changed = *state.changed;
    __syncthreads();
    const double shift = finish.shift_wanted
                             ? lloyd_cuda::block_shift(cells, memory.partial_sums,
                                                       [&](std::int64_t at) {
                                                         return __dsub_rn(next[at], centroids[at]);
                                                       })
                             : 0;
    if (!finish.keeps_totals) clear_totals(clusters, cells, state);
    ++finished;
    if (threadIdx.x == 0) {
      *state.changed = 0;
      loop.last_changed = labels_changed;
      loop.shift = shift;
      loop.iterations = finished;
      memory.stops = lloyd_cuda::stops(finish, finished, labels_changed, 0, shift);
      if (!memory.stops) lloyd_cuda::report_progress(finish, finished, lloyd_cuda::kHaltNone);
    }
    __syncthreads();
    if (memory.stops) halt = lloyd_cuda::kHaltStopped;
  }
  labeller.finish();
  __syncthreads();
  const IterationArguments& next = arguments_of(first, second, i);
  store(next, arguments_of(first, second, i + 1), cells, state, i % 2, i > 0);
  if (threadIdx.x != 0) return;
  if (halt == lloyd_cuda::kHaltEmpty) {
    loop.changed = static_cast<unsigned long long>(*state.changed);
  }
  if (halt != lloyd_cuda::kHaltNone) lloyd_cuda::halt_and_report(next.finish, halt);
}

/// Runs `count` iterations over all samples in one block, for problems too small to fill more. They
/// alternate between two sets of arguments, neither of which has a Finish::ring.
template <class Labeller>
void launch_iterations(const IterationArguments& first, const IterationArguments& second, int count,
                       const Samples<typename Labeller::Value>& samples,
                       const typename Labeller::Arguments& arguments,
                       const Configuration& configuration, Device& device) {
  const std::int64_t clusters = first.pass.clusters;
  const IterationsLayout layout =
      iterations_layout(configuration, clusters, clusters * samples.features);
  const auto kernel = iterations_kernel<Labeller>;
  lloyd_cuda::allow_shared_memory(kernel, layout.bytes, device.limits.shared_bytes_per_block);
  // One thread for every kRows rows.
  const std::int64_t rows = (first.pass.rows.size() + kRows - 1) / kRows;
  const auto threads = static_cast<unsigned>(
      std::clamp<std::int64_t>((rows + 31) / 32 * 32, 128, Labeller::kMaxThreads));
  kernel<<<1, threads, static_cast<std::size_t>(layout.bytes), first.pass.stream>>>(
      first, second, count, samples, arguments, configuration, layout);
  lloyd_cuda::check_launch("iterations_kernel");
}

}  // namespace lloyd_cuda_fused
