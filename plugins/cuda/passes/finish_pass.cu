#include "cuda/passes/finish_pass.hpp"

#include <algorithm>

#include <lloyd/plugin/sdk/iteration_rules.hpp>

#include "cuda/device/check.hpp"
#include "cuda/passes/integer_sums.cuh"

namespace lloyd_cuda {
namespace {

constexpr int kMeansThreads = 256;
constexpr int kMeansBlocks = 1024;
// One thread per partial sum in the definition of the shift.
constexpr int kDecisionThreads = lloyd::kShiftPartialSums;

__global__ void means_kernel(Finish finish) {
  if (finish.state->halt != kHaltNone) return;
  const std::int64_t cells = finish.clusters * finish.features;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t at = first; at < cells; at += step) {
    const std::int64_t cluster = at / finish.features;
    const std::int64_t feature = at - cluster * finish.features;
    const unsigned long long count = finish.totals.counts[cluster];
    double mean = finish.centroids[at];
    if (count > 0) {
      const lloyd::SumWords sum = finish.totals.sums[at];
      const double rounded = to_double({sum.low, sum.high});
      mean = __ddiv_rn(ldexp(rounded, finish.scale.exponents[feature]), static_cast<double>(count));
    }
    finish.next_centroids[at] = mean;
    if (finish.next_rounded != nullptr) finish.next_rounded[at] = static_cast<float>(mean);
    finish.next_totals.sums[at] = {0, 0};
    if (feature == 0) finish.next_totals.counts[cluster] = 0;
  }
}

// lloyd::squared_shift(), with one thread per partial sum.
__device__ double block_shift(const Finish& finish, double* partial_sums) {
  const std::int64_t cells = finish.clusters * finish.features;
  double sum = 0;
  for (std::int64_t at = threadIdx.x; at < cells; at += blockDim.x) {
    const double move = __dsub_rn(finish.next_centroids[at], finish.centroids[at]);
    sum = __dadd_rn(sum, __dmul_rn(move, move));
  }
  partial_sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kDecisionThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      partial_sums[threadIdx.x] =
          __dadd_rn(partial_sums[threadIdx.x], partial_sums[threadIdx.x + half]);
    }
    __syncthreads();
  }
  return partial_sums[0];
}

__device__ void report(const Finish& finish) {
  *finish.progress = static_cast<unsigned long long>(finish.state->iterations)
                         << kProgressHaltBits |
                     static_cast<unsigned long long>(finish.state->halt);
}

__global__ void decision_kernel(Finish finish) {
  __shared__ double partial_sums[kDecisionThreads];
  LoopState& state = *finish.state;
  // One thread reads the flag for the block, since the host may set it at any time.
  __shared__ bool halted;
  if (threadIdx.x == 0) halted = *static_cast<volatile std::int32_t*>(&state.halt) != kHaltNone;
  __syncthreads();
  if (halted) {
    if (threadIdx.x == 0) report(finish);
    return;
  }
  bool empty = false;
  for (std::int64_t c = threadIdx.x; c < finish.clusters; c += blockDim.x) {
    empty |= finish.totals.counts[c] == 0;
  }
  if (__syncthreads_or(empty) != 0 && finish.halt_when_empty) {
    if (threadIdx.x == 0) {
      atomicCAS(&state.halt, static_cast<int>(kHaltNone), static_cast<int>(kHaltEmpty));
      report(finish);
    }
    return;
  }
  const double shift = finish.shift_wanted ? block_shift(finish, partial_sums) : 0;
  if (threadIdx.x != 0) return;
  const auto changed = static_cast<std::int64_t>(state.changed);
  state.changed = 0;
  state.last_changed = changed;
  state.shift = shift;
  ++state.iterations;
  // The rule of lloyd::stop_reason(), from which the host derives the reason.
  const bool converged =
      finish.may_converge && (changed == 0 || (finish.tolerance > 0 && shift <= finish.tolerance));
  if (converged || state.iterations >= finish.max_iterations) {
    atomicCAS(&state.halt, static_cast<int>(kHaltNone), static_cast<int>(kHaltStopped));
  }
  report(finish);
}

__global__ void rounding_kernel(const double* values, float* rounded, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count; i += step) rounded[i] = static_cast<float>(values[i]);
}

int blocks_for(std::int64_t count) {
  const std::int64_t blocks = (count + kMeansThreads - 1) / kMeansThreads;
  return static_cast<int>(std::min<std::int64_t>(blocks, kMeansBlocks));
}

}  // namespace

void enqueue_means(const Finish& finish, cudaStream_t stream) {
  const int blocks = blocks_for(finish.clusters * finish.features);
  means_kernel<<<blocks, kMeansThreads, 0, stream>>>(finish);
  check_launch("means_kernel");
}

void enqueue_decision(const Finish& finish, cudaStream_t stream) {
  decision_kernel<<<1, kDecisionThreads, 0, stream>>>(finish);
  check_launch("decision_kernel");
}

void enqueue_rounding(const double* values, float* rounded, std::int64_t count,
                      cudaStream_t stream) {
  rounding_kernel<<<blocks_for(count), kMeansThreads, 0, stream>>>(values, rounded, count);
  check_launch("rounding_kernel");
}

}  // namespace lloyd_cuda
