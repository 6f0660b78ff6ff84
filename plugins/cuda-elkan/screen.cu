// Screen: one thread per sample reads its label and two bounds, and the sample itself only if these
// do not prove the label.
#include "block.cuh"
#include "cuda/device/check.hpp"
#include "cuda/passes/distance.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_elkan {
namespace {

// True if a sample within `upper` of its centroid provably keeps it.
template <class T>
__device__ bool is_settled(const Part<T>& part, std::int64_t row, std::int32_t label, float upper) {
  const float lower = lower_now(part.bounds.lower[row], *part.moves.drift_of_all);
  const float across = lower_across(part.moves.nearest_other[label], upper);
  return fmaxf(lower, across) > exclusion_limit(upper);
}

// A block handles as many rows as it has threads. Rows that the stored bounds leave open are
// compacted before their distances are computed, so that whole warps work.
template <class T>
__global__ void __launch_bounds__(1024) screen_kernel(Part<T> part) {
  extern __shared__ std::uint32_t failed_rows[];
  __shared__ unsigned failed;
  __shared__ unsigned kept;
  __shared__ unsigned first_place;
  const lloyd_cuda::Pass& pass = part.pass;
  if (block_halted(pass.halt) || part.work->ready == 0) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * blockDim.x;
       begin < pass.rows.size(); begin += step) {
    if (threadIdx.x == 0) {
      failed = 0;
      kept = 0;
    }
    __syncthreads();
    const std::int64_t row = pass.rows.begin + begin + threadIdx.x;
    bool fails = false;
    if (row < pass.rows.end) {
      const std::int32_t label = pass.labels[row];
      const float upper = upper_now(part.bounds.upper[row], part.moves.drift[label]);
      fails = !is_settled(part, row, label, upper);
    }
    const unsigned failed_place = append(fails, &failed);
    if (fails) failed_rows[failed_place] = threadIdx.x;
    __syncthreads();

    const bool tightens = threadIdx.x < failed;
    bool remains = false;
    std::int64_t own_row = 0;
    double squared = 0;
    if (tightens) {
      own_row = pass.rows.begin + begin + failed_rows[threadIdx.x];
      const std::int32_t label = pass.labels[own_row];
      squared = lloyd_cuda::exact_distance(part.samples, own_row,
                                           pass.centroids + label * part.samples.features);
      const float upper = upper_bound(squared);
      part.bounds.upper[own_row] = store_upper(upper, part.moves.drift[label]);
      remains = !is_settled(part, own_row, label, upper);
    }
    const unsigned kept_place = append(remains, &kept);
    __syncthreads();
    if (threadIdx.x == 0) {
      first_place = kept > 0 ? atomicAdd(&part.work->listed, kept) : 0;
      if (failed > 0) atomicAdd(&part.work->distances, static_cast<unsigned long long>(failed));
    }
    __syncthreads();
    if (remains) {
      const unsigned place = first_place + kept_place;
      part.lists.listed[place] = static_cast<std::uint32_t>(own_row - pass.rows.begin);
      part.lists.own_distance[place] = squared;
    }
    // No barrier is needed here: thread 0 resets the counts before the next round's first barrier,
    // nobody reads them before it, and the entries in shared memory were read before the last
    // barrier.
  }
}

}  // namespace

template <class T>
void enqueue_screen(const Part<T>& part, const Grid& grid) {
  const int threads = grid.block_size;
  const std::int64_t blocks = (part.pass.rows.size() + threads - 1) / threads;
  const std::size_t shared = static_cast<std::size_t>(threads) * sizeof(std::uint32_t);
  screen_kernel<T><<<grid.blocks(blocks, threads), threads, shared, part.pass.stream>>>(part);
  lloyd_cuda::check_launch("screen_kernel");
}

template void enqueue_screen(const Part<float>&, const Grid&);
template void enqueue_screen(const Part<double>&, const Grid&);

}  // namespace lloyd_cuda_elkan
