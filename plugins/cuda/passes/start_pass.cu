#include "cuda/passes/start_pass.hpp"

#include <algorithm>

#include "cuda/device/check.hpp"

namespace lloyd_cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kBlocks = 1024;

__global__ void start_kernel(Start start) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const std::int64_t cells = start.clusters * start.features;
  for (std::int64_t at = first; at < cells; at += step) {
    const double value = start.initial_centroids[at];
    start.centroids[at] = value;
    if (start.rounded != nullptr) start.rounded[at] = static_cast<float>(value);
    start.totals.sums[at] = {0, 0};
    start.next_totals.sums[at] = {0, 0};
  }
  for (std::int64_t c = first; c < start.clusters; c += step) {
    start.totals.counts[c] = 0;
    start.next_totals.counts[c] = 0;
  }
  for (std::int64_t i = first; i < start.samples; i += step) start.labels[i] = -1;
  if (first == 0) *start.state = {};
}

}  // namespace

void enqueue_start(const Start& start, cudaStream_t stream) {
  const std::int64_t longest = std::max(start.samples, start.clusters * start.features);
  const std::int64_t blocks =
      std::clamp<std::int64_t>((longest + kThreads - 1) / kThreads, 1, kBlocks);
  start_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(start);
  check_launch("start_kernel");
}

}  // namespace lloyd_cuda
