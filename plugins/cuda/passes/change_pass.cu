#include "cuda/passes/change_pass.hpp"

#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/passes/integer_sums.cuh"

namespace lloyd_cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kBlocks = 1024;

__device__ DeviceInt128 change_of_sum(const Totals& totals, const Totals& former, std::int64_t at) {
  const lloyd::SumWords now = totals.sums[at];
  const lloyd::SumWords before = former.sums[at];
  return DeviceInt128{now.low, now.high} + -DeviceInt128{before.low, before.high};
}

__global__ void change_kernel(Totals totals, Totals former, Totals changes, std::int64_t clusters,
                              std::int64_t cells) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t at = first; at < cells; at += step) {
    const DeviceInt128 change = change_of_sum(totals, former, at);
    changes.sums[at] = {change.low, change.high};
  }
  for (std::int64_t c = first; c < clusters; c += step) {
    changes.counts[c] = totals.counts[c] - former.counts[c];
  }
}

// Each thread owns the cells that it adds to, so that no addition is atomic.
__global__ void add_changes_kernel(Totals totals, Totals former, const unsigned long long* changed,
                                   ChangeTargets targets, std::int64_t clusters,
                                   std::int64_t cells) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  if (targets.sums != nullptr) {
    for (std::int64_t at = first; at < cells; at += step) {
      const DeviceInt128 change = change_of_sum(totals, former, at);
      lloyd::add_limbs(static_cast<lloyd::Int128>(change.high) << 64 | change.low, targets.limbs,
                       targets.sums + at, static_cast<std::size_t>(cells));
    }
  }
  if (targets.counts != nullptr) {
    for (std::int64_t c = first; c < clusters; c += step) {
      targets.counts[c] += static_cast<std::int64_t>(totals.counts[c] - former.counts[c]);
    }
  }
  if (targets.changed != nullptr && first == 0) {
    *targets.changed += static_cast<std::int64_t>(*changed);
  }
}

// Grid size for `values` items.
unsigned blocks_for(std::int64_t values) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((values + kThreads - 1) / kThreads, 1, kBlocks));
}

}  // namespace

void enqueue_changes(const Totals& totals, const Totals& former, const Totals& changes,
                     std::int64_t clusters, std::int64_t features, cudaStream_t stream) {
  const std::int64_t cells = changes.sums != nullptr ? clusters * features : 0;
  change_kernel<<<blocks_for(std::max(cells, clusters)), kThreads, 0, stream>>>(
      totals, former, changes, clusters, cells);
  check_launch("change_kernel");
}

void enqueue_add_changes(const Totals& totals, const Totals& former,
                         const unsigned long long* changed, const ChangeTargets& targets,
                         std::int64_t clusters, std::int64_t features, cudaStream_t stream) {
  const std::int64_t cells = clusters * features;  // >= clusters
  add_changes_kernel<<<blocks_for(cells), kThreads, 0, stream>>>(totals, former, changed, targets,
                                                                 clusters, cells);
  check_launch("add_changes_kernel");
}

}  // namespace lloyd_cuda
