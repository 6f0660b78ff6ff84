#include "cuda/passes/finish_pass.hpp"

#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/passes/finish_iteration.cuh"

namespace lloyd_cuda {
namespace {

constexpr int kMeansThreads = 256;
constexpr int kMeansBlocks = 1024;
// One thread per partial sum in the definition of the shift.
constexpr int kDecisionThreads = lloyd::kShiftPartialSums;
// Cells per thread of a block that computes the means of an iteration and decides.
constexpr std::int64_t kCellsPerThread = 2;
constexpr std::int64_t kFinishBlocks = 128;

__device__ std::int64_t first_cell() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t cell_step() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

__global__ void means_kernel(Finish finish) {
  if (finish.state->halt != kHaltNone) return;
  compute_means(finish, first_cell(), cell_step());
}

__global__ void __launch_bounds__(kDecisionThreads) decision_kernel(Finish finish) {
  __shared__ DecisionMemory memory;
  decide(finish, memory);
}

template <Reports kReports>
__global__ void __launch_bounds__(kDecisionThreads) finish_kernel(Finish finish) {
  __shared__ DecisionMemory memory;
  if (*static_cast<volatile std::int32_t*>(&finish.state->halt) == kHaltNone) {
    compute_means<kReports>(finish, first_cell(), cell_step());
  }
  if (is_last_block(&finish.state->arrived, memory)) decide<kReports>(finish, memory);
}

__global__ void rounding_kernel(const double* values, float* rounded, std::int64_t count) {
  for (std::int64_t i = first_cell(); i < count; i += cell_step()) {
    rounded[i] = static_cast<float>(values[i]);
  }
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

void enqueue_finish(const Finish& finish, cudaStream_t stream) {
  const std::int64_t cells = finish.clusters * finish.features;
  const std::int64_t per_block = kDecisionThreads * kCellsPerThread;
  const std::int64_t blocks =
      std::clamp<std::int64_t>((cells + per_block - 1) / per_block, 1, kFinishBlocks);
  const auto kernel =
      finish.ring.reports == nullptr ? finish_kernel<Reports::no> : finish_kernel<Reports::yes>;
  kernel<<<static_cast<unsigned>(blocks), kDecisionThreads, 0, stream>>>(finish);
  check_launch("finish_kernel");
}

void enqueue_rounding(const double* values, float* rounded, std::int64_t count,
                      cudaStream_t stream) {
  rounding_kernel<<<blocks_for(count), kMeansThreads, 0, stream>>>(values, rounded, count);
  check_launch("rounding_kernel");
}

}  // namespace lloyd_cuda
