// The end of an iteration, for kernels: means, centroid shift and stop decision.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/exact_sum.hpp>
#include <lloyd/plugin/sdk/iteration_rules.hpp>

#include "cuda/passes/finish_pass.hpp"
#include "cuda/passes/halt_flag.cuh"
#include "cuda/passes/integer_sums.cuh"

namespace lloyd_cuda {

/// Whether an iteration is reported in Finish::ring. Without reports, kernels need fewer registers.
enum class Reports : bool { no, yes };

/// Shared memory of a block that decides.
struct DecisionMemory {
  double partial_sums[lloyd::kShiftPartialSums];  ///< of lloyd::squared_shift()
  bool is_last;                                   ///< of is_last_block()
  bool stops;                                     ///< the fit stops (iterations_kernel)
};

/// The mean of `count` > 0 values: their sum as a multiple of 2^exponent, rounded once, divided.
__device__ inline double mean_of(DeviceInt128 sum, int exponent, unsigned long long count) {
  return __ddiv_rn(ldexp(to_double(sum), exponent), static_cast<double>(count));
}

/// The slot of the current iteration in Finish::ring.
__device__ inline std::int64_t report_slot(const Finish& finish) {
  return __ldcg(&finish.state->iterations) % ReportRing::kSlots;
}

/// Moves the inertia of the current iteration to its slot. Called by all threads of one block,
/// which must synchronize before one of them calls release_reports().
__device__ inline void report_inertia(const Finish& finish) {
  if (finish.ring.inertia_slots == nullptr) return;
  constexpr int kChunks = lloyd::ExactSum::kChunks;
  unsigned long long* const slot = finish.ring.inertia_slots + report_slot(finish) * kChunks;
  for (int i = static_cast<int>(threadIdx.x); i < kChunks; i += static_cast<int>(blockDim.x)) {
    slot[i] = __ldcg(finish.ring.inertia_sum + i);
    finish.ring.inertia_sum[i] = 0;
  }
}

/// Makes what the block has written to Finish::ring visible to the host before the progress that
/// the calling thread reports next.
template <Reports kReports>
__device__ inline void release_reports() {
  if (kReports == Reports::yes) __threadfence_system();
}

/// Computes the next centroids and totals, for the cells (cluster x d + feature)
/// `first`, `first + step`, ... Values of other blocks are read from L2, because the L1 caches of
/// multiprocessors are not coherent.
template <Reports kReports = Reports::no>
__device__ inline void compute_means(const Finish& finish, std::int64_t first, std::int64_t step) {
  const std::int64_t cells = finish.clusters * finish.features;
  double* reported = nullptr;
  if (kReports == Reports::yes && finish.ring.centroids != nullptr) {
    reported = finish.ring.centroids + report_slot(finish) * cells;
  }
  for (std::int64_t at = first; at < cells; at += step) {
    const std::int64_t cluster = at / finish.features;
    const std::int64_t feature = at - cluster * finish.features;
    const unsigned long long count = __ldcg(finish.totals.counts + cluster);
    const auto* words = reinterpret_cast<const unsigned long long*>(finish.totals.sums + at);
    DeviceInt128 sum{__ldcg(words), __ldcg(words + 1)};
    double mean = finish.centroids[at];
    if (count > 0) {
      mean = mean_of(sum, finish.scale.exponents[feature], count);
    } else {
      sum = {0, 0};
    }
    finish.next_centroids[at] = mean;
    if (reported != nullptr) reported[at] = mean;
    if (finish.next_rounded != nullptr) finish.next_rounded[at] = static_cast<float>(mean);
    if (!finish.keeps_totals) sum = {0, 0};
    finish.next_totals.sums[at] = {sum.low, sum.high};
    if (feature == 0) finish.next_totals.counts[cluster] = finish.keeps_totals ? count : 0;
  }
  if (reported != nullptr) __threadfence_system();
}

/// lloyd::squared_shift() by one block of any size; thread 0 has the result. `move(i)` is the
/// difference of value i, of `cells`.
template <class Move>
__device__ inline double block_shift(std::int64_t cells, double* partial_sums, const Move& move) {
  constexpr int kSums = lloyd::kShiftPartialSums;
  // Levels that only add zeros are skipped.
  int used = kSums;
  while (used / 2 >= cells && used > 1) used /= 2;
  for (int i = static_cast<int>(threadIdx.x); i < used; i += static_cast<int>(blockDim.x)) {
    double sum = 0;
    for (std::int64_t at = i; at < cells; at += kSums) {
      const double difference = move(at);
      sum = __dadd_rn(sum, __dmul_rn(difference, difference));
    }
    partial_sums[i] = sum;
  }
  __syncthreads();
  for (int half = used / 2; half > 0; half /= 2) {
    for (int i = static_cast<int>(threadIdx.x); i < half; i += static_cast<int>(blockDim.x)) {
      partial_sums[i] = __dadd_rn(partial_sums[i], partial_sums[i + half]);
    }
    __syncthreads();
  }
  return partial_sums[0];
}

/// Whether the fit stops after `iterations`, the last of which changed `changed` labels and
/// relocated `relocations` clusters. The rule of lloyd::stop_reason(), from which the host derives
/// the reason.
__device__ inline bool stops(const Finish& finish, std::int64_t iterations, std::int64_t changed,
                             std::int64_t relocations, double shift) {
  const bool converged = finish.may_converge && relocations == 0 &&
                         (changed == 0 || (finish.tolerance > 0 && shift <= finish.tolerance));
  return converged || iterations >= finish.max_iterations;
}

/// Reports a state to the host.
__device__ inline void report_progress(const Finish& finish, std::int64_t iterations,
                                       std::int32_t halt) {
  *finish.progress = static_cast<unsigned long long>(iterations) << kProgressHaltBits |
                     static_cast<unsigned long long>(halt);
}
__device__ inline void report_progress(const Finish& finish) {
  report_progress(finish, finish.state->iterations, finish.state->halt);
}

/// Halts the fit, unless it has been cancelled, and reports the state to the host.
__device__ inline void halt_and_report(const Finish& finish, Halt halt) {
  atomicCAS(&finish.state->halt, static_cast<int>(kHaltNone), static_cast<int>(halt));
  report_progress(finish);
}

/// Decides whether the fit goes on, after the next centroids have been computed. Called by all
/// threads of one block.
template <Reports kReports = Reports::no>
__device__ inline void decide(const Finish& finish, DecisionMemory& memory) {
  LoopState& state = *finish.state;
  // Thread 0 issues all of its loads here, so that their latencies overlap.
  const bool halted = read_halted(&state.halt);
  std::int64_t changed = 0;
  std::int64_t iterations = 0;
  if (threadIdx.x == 0) {
    changed = static_cast<std::int64_t>(__ldcg(&state.changed));
    iterations = __ldcg(&state.iterations) + 1;
  }
  bool empty = false;
  for (std::int64_t c = threadIdx.x; c < finish.clusters; c += blockDim.x) {
    empty |= __ldcg(finish.totals.counts + c) == 0;
  }
  const bool halted_or_empty = __syncthreads_or(halted || empty) != 0;
  if (halted_or_empty && __syncthreads_or(halted) != 0) {
    if (threadIdx.x == 0) report_progress(finish);
    return;
  }
  if (kReports == Reports::yes) {
    report_inertia(finish);
    __syncthreads();
  }
  if (halted_or_empty && finish.halt_when_empty) {
    if (threadIdx.x == 0) {
      release_reports<kReports>();
      halt_and_report(finish, kHaltEmpty);
    }
    return;
  }
  const double shift = finish.shift_wanted
                           ? block_shift(finish.clusters * finish.features, memory.partial_sums,
                                         [&](std::int64_t at) {
                                           return __dsub_rn(__ldcg(finish.next_centroids + at),
                                                            finish.centroids[at]);
                                         })
                           : 0;
  if (threadIdx.x != 0) return;
  const std::int64_t slot = kReports == Reports::yes ? report_slot(finish) : 0;
  state.changed = 0;
  state.last_changed = changed;
  state.shift = shift;
  state.iterations = iterations;
  const std::int64_t relocations = finish.relocates ? state.relocations : 0;
  const bool stopped = stops(finish, iterations, changed, relocations, shift);
  if (kReports == Reports::yes) finish.ring.reports[slot] = {iterations, changed, shift};
  release_reports<kReports>();
  if (stopped) {
    halt_and_report(finish, kHaltStopped);
  } else {
    report_progress(finish);
  }
}

/// True for all threads of the last block of the grid that calls it. That block sees what the
/// others wrote before their calls. `arrived` is 0 before the kernel and after it, if all blocks
/// call.
__device__ inline bool is_last_block(unsigned int* arrived, DecisionMemory& memory) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned int blocks = gridDim.x * gridDim.y;
    memory.is_last = atomicInc(arrived, blocks - 1) == blocks - 1;
    __threadfence();
  }
  __syncthreads();
  return memory.is_last;
}

/// Lets the last block finish the iteration, in a kernel that has added to the totals. All threads
/// of all blocks call it once, unless the block returned because the fit had halted. `memory` may
/// overlap shared memory that the block has used before.
__device__ inline void finish_iteration(const Finish& finish, DecisionMemory& memory) {
  if (!is_last_block(&finish.state->arrived, memory)) return;
  compute_means(finish, threadIdx.x, blockDim.x);
  __syncthreads();
  decide(finish, memory);
}

}  // namespace lloyd_cuda
