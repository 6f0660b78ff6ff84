#include "cuda/relocation/relocation_pass.hpp"

#include <algorithm>
#include <cub/block/block_scan.cuh>

#include "cuda/device/check.hpp"
#include "cuda/passes/halt_flag.cuh"
#include "cuda/passes/integer_sums.cuh"

namespace lloyd_cuda {
namespace {

constexpr int kChoiceThreads = 1024;
// Maximum number of clusters whose counts are kept in shared memory: 32 KiB.
constexpr std::int64_t kMaxSharedCounts = 4096;
constexpr int kMoveThreads = 256;
constexpr std::int64_t kMoveBlocks = 1024;

// One block. The rule is sequential: all threads load some samples, then thread 0 applies the rule
// to them.
__global__ void __launch_bounds__(kChoiceThreads) choose_kernel(RelocationUpdate update) {
  using Scan = cub::BlockScan<int, kChoiceThreads>;
  __shared__ typename Scan::TempStorage scan;
  __shared__ unsigned long long shared_counts[kMaxSharedCounts];
  __shared__ std::int32_t labels[kChoiceThreads];
  __shared__ std::int32_t relocation_of[kChoiceThreads];  // index; -1: the sample does not move
  __shared__ std::int32_t chosen;
  if (block_halted(&update.state->halt)) return;
  const int thread = static_cast<int>(threadIdx.x);

  // The empty clusters, ascending. All threads run the same number of loop
  // iterations, so that they meet at the barriers.
  std::int32_t empty = 0;
  for (std::int64_t begin = 0; begin < update.clusters; begin += kChoiceThreads) {
    const std::int64_t c = begin + thread;
    const int is_empty = c < update.clusters && update.totals.counts[c] == 0 ? 1 : 0;
    int before = 0;
    int total = 0;
    Scan(scan).ExclusiveSum(is_empty, before, total);
    if (is_empty != 0) update.relocations[empty + before].to = static_cast<std::int32_t>(c);
    empty += total;
    __syncthreads();  // the memory of the scan is used again
  }

  // Samples of each cluster that have not been chosen.
  const bool in_shared = update.clusters <= kMaxSharedCounts;
  unsigned long long* const counts = in_shared ? shared_counts : update.totals.counts;
  for (std::int64_t c = thread; in_shared && c < update.clusters; c += kChoiceThreads) {
    shared_counts[c] = update.totals.counts[c];
  }

  const auto found = static_cast<std::int64_t>(*update.farthest.found);
  const std::int64_t samples = found < update.farthest.wanted ? found : update.farthest.wanted;
  std::int32_t relocations = 0;
  for (std::int64_t begin = 0; begin < samples && relocations < empty; begin += kChoiceThreads) {
    const std::int64_t rest = samples - begin;
    const int size = rest < kChoiceThreads ? static_cast<int>(rest) : kChoiceThreads;
    lloyd::FarSample sample;
    if (thread < size) {
      sample = update.farthest.samples[begin + thread];
      labels[thread] = sample.label;
      relocation_of[thread] = -1;
    }
    __syncthreads();
    if (thread == 0) {
      for (int i = 0; i < size && relocations < empty; ++i) {
        unsigned long long& count = counts[labels[i]];
        if (count < 2) continue;
        --count;
        relocation_of[i] = relocations++;
      }
      chosen = relocations;
    }
    __syncthreads();
    relocations = chosen;
    if (thread < size && relocation_of[thread] >= 0) {
      update.relocations[relocation_of[thread]].sample = sample;
    }
  }
  __syncthreads();

  for (std::int64_t c = thread; in_shared && c < update.clusters; c += kChoiceThreads) {
    update.totals.counts[c] = shared_counts[c];
  }
  __syncthreads();
  for (std::int64_t i = thread; i < relocations; i += kChoiceThreads) {
    update.totals.counts[update.relocations[i].to] = 1;
  }
  if (thread == 0) update.state->relocations = relocations;
}

template <class T>
__global__ void __launch_bounds__(kMoveThreads)
    move_kernel(RelocationUpdate update, lloyd::RowRange rows, Samples<T> samples) {
  if (block_halted(&update.state->halt)) return;
  const std::int64_t d = update.features;
  const std::int64_t cells = update.state->relocations * d;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kMoveThreads;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kMoveThreads + threadIdx.x;
       at < cells; at += step) {
    const lloyd::Relocation& relocation = update.relocations[at / d];
    const std::int64_t feature = at % d;
    const std::int64_t row = relocation.sample.row;
    if (row < rows.begin || row >= rows.end) continue;
    const DeviceInt128 value =
        exact_value(samples.row(row)[feature * samples.feature_stride], update.scale, feature);
    atomic_add(update.totals.sums + relocation.sample.label * d + feature, -value);
    atomic_add(update.totals.sums + relocation.to * d + feature, value);
  }
}

}  // namespace

void enqueue_choose_relocations(const RelocationUpdate& update, cudaStream_t stream) {
  choose_kernel<<<1, kChoiceThreads, 0, stream>>>(update);
  check_launch("choose_kernel");
}

template <class T>
void enqueue_move_samples(const RelocationUpdate& update, lloyd::RowRange rows,
                          const Samples<T>& samples, cudaStream_t stream) {
  const std::int64_t cells = update.clusters * update.features;
  const std::int64_t blocks = std::min((cells + kMoveThreads - 1) / kMoveThreads, kMoveBlocks);
  move_kernel<T><<<static_cast<unsigned>(blocks), kMoveThreads, 0, stream>>>(update, rows, samples);
  check_launch("move_kernel");
}

template void enqueue_move_samples(const RelocationUpdate&, lloyd::RowRange, const Samples<float>&,
                                   cudaStream_t);
template void enqueue_move_samples(const RelocationUpdate&, lloyd::RowRange, const Samples<double>&,
                                   cudaStream_t);

}  // namespace lloyd_cuda
