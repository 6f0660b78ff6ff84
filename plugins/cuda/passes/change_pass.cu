#include "cuda/passes/change_pass.hpp"

#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/passes/integer_sums.cuh"

namespace lloyd_cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kBlocks = 1024;

__global__ void change_kernel(Totals totals, Totals former, Totals changes, std::int64_t clusters,
                              std::int64_t cells) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t at = first; at < cells; at += step) {
    const lloyd::SumWords now = totals.sums[at];
    const lloyd::SumWords before = former.sums[at];
    const DeviceInt128 change =
        DeviceInt128{now.low, now.high} + -DeviceInt128{before.low, before.high};
    changes.sums[at] = {change.low, change.high};
  }
  for (std::int64_t c = first; c < clusters; c += step) {
    changes.counts[c] = totals.counts[c] - former.counts[c];
  }
}

}  // namespace

void enqueue_changes(const Totals& totals, const Totals& former, const Totals& changes,
                     std::int64_t clusters, std::int64_t features, cudaStream_t stream) {
  const std::int64_t cells = changes.sums != nullptr ? clusters * features : 0;
  const std::int64_t blocks =
      std::clamp<std::int64_t>((std::max(cells, clusters) + kThreads - 1) / kThreads, 1, kBlocks);
  change_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(totals, former, changes,
                                                                        clusters, cells);
  check_launch("change_kernel");
}

}  // namespace lloyd_cuda
