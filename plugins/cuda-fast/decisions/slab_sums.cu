#include "cuda-fast/decisions/slab_sums.hpp"

#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/passes/halt_flag.cuh"
#include "cuda/passes/integer_sums.cuh"

namespace lloyd_cuda_fast {
namespace {

using lloyd_cuda::DeviceInt128;
using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 8;
constexpr int kScanThreads = 1024;
constexpr std::int64_t kMaxSharedClusters = 8192;
// Bounds of a run, the sorted entries that a group of lanes sums at a time: short runs keep all
// groups busy, long runs need fewer atomic additions.
constexpr unsigned int kMinRun = 8;
constexpr unsigned int kMaxRun = 256;
// An entry of the sorted list: the row relative to the slab; the top bit is set if the row leaves
// the cluster.
constexpr unsigned int kLeaves = 1u << 31;

// Arguments of the kernels that sort and sum the rows of a slab.
struct SortArguments {
  Pass pass;  // its rows are the slab
  ChangedSamples changed;
  bool sums_all_rows;     // all rows enter their cluster; otherwise the changed ones move
  unsigned int* entries;  // per cluster: entries of the sorted list
  unsigned int* offsets;  // k + 1
  unsigned int* cursors;  // k
  unsigned int* sorted;
};

// Calls body(cluster, leaves, row) for each entry of the list, in any order. All threads of a warp
// call it together; for those without an entry, the cluster is negative.
template <class Body>
__device__ void for_each_entry(const SortArguments& sort, const Body& body) {
  const std::int32_t* const labels = sort.pass.labels + sort.pass.rows.begin;
  const std::int64_t count =
      sort.sums_all_rows ? sort.pass.rows.size() : std::int64_t{*sort.changed.count};
  const std::int64_t padded = (count + 31) / 32 * 32;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < padded; i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const bool exists = i < count;
    std::int32_t row = static_cast<std::int32_t>(i);
    std::int32_t former = -1;
    if (exists && !sort.sums_all_rows) {
      row = sort.changed.rows[i];
      former = sort.changed.former[i];
    }
    body(exists ? labels[row] : -1, false, static_cast<unsigned int>(row));
    if (!sort.sums_all_rows) body(former, true, static_cast<unsigned int>(row));
  }
}

// The lanes of a warp with the same cluster. Their leader performs one atomic addition for all.
struct ClusterPeers {
  unsigned int lanes;
  bool leads;  // this lane adds for all, unless the cluster is negative

  __device__ explicit ClusterPeers(std::int32_t cluster)
      : lanes(__match_any_sync(0xffffffffu, cluster)),
        leads(cluster >= 0 && static_cast<int>(threadIdx.x % 32) == leader()) {}
  __device__ int leader() const { return __ffs(static_cast<int>(lanes)) - 1; }
  __device__ unsigned int count() const { return static_cast<unsigned int>(__popc(lanes)); }
  // Lanes before this one.
  __device__ unsigned int before() const {
    return static_cast<unsigned int>(__popc(lanes & ((1u << threadIdx.x % 32) - 1)));
  }
};

// Counts the entries of each cluster, in shared memory if all rows are counted and it has room.
__global__ void count_kernel(SortArguments sort) {
  extern __shared__ unsigned int shared_counts[];
  if (lloyd_cuda::block_halted(sort.pass.halt)) return;
  const std::int64_t k = sort.pass.clusters;
  const bool in_shared = sort.sums_all_rows && k <= kMaxSharedClusters;
  if (in_shared) {
    for (std::int64_t c = threadIdx.x; c < k; c += blockDim.x) shared_counts[c] = 0;
    __syncthreads();
  }
  unsigned int* const counts = in_shared ? shared_counts : sort.entries;
  for_each_entry(sort, [&](std::int32_t cluster, bool leaves, unsigned int) {
    const ClusterPeers peers(cluster);
    if (!peers.leads) return;
    atomicAdd(counts + cluster, peers.count());
    if (sort.sums_all_rows) return;
    const auto change = static_cast<unsigned long long>(peers.count());
    atomicAdd(sort.pass.totals.counts + cluster, leaves ? 0 - change : change);
  });
  if (!in_shared) return;
  __syncthreads();
  for (std::int64_t c = threadIdx.x; c < k; c += blockDim.x) {
    if (shared_counts[c] != 0) atomicAdd(sort.entries + c, shared_counts[c]);
  }
}

// The first position of each cluster in the sorted list: an exclusive prefix sum. One block.
__global__ void __launch_bounds__(kScanThreads) offset_kernel(SortArguments sort) {
  __shared__ unsigned int sums[kScanThreads];
  if (lloyd_cuda::block_halted(sort.pass.halt)) return;
  const std::int64_t k = sort.pass.clusters;
  const std::int64_t share = (k + kScanThreads - 1) / kScanThreads;
  const std::int64_t begin = threadIdx.x * share < k ? threadIdx.x * share : k;
  const std::int64_t end = begin + share < k ? begin + share : k;
  unsigned int sum = 0;
  for (std::int64_t c = begin; c < end; ++c) sum += sort.entries[c];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int offset = 1; offset < kScanThreads; offset *= 2) {
    const unsigned int left =
        static_cast<int>(threadIdx.x) >= offset ? sums[threadIdx.x - offset] : 0;
    __syncthreads();
    sums[threadIdx.x] += left;
    __syncthreads();
  }
  unsigned int position = sums[threadIdx.x] - sum;
  for (std::int64_t c = begin; c < end; ++c) {
    const unsigned int entries = sort.entries[c];
    sort.offsets[c] = position;
    sort.cursors[c] = position;
    position += entries;
    if (sort.sums_all_rows && entries != 0) {
      sort.pass.totals.counts[c] += static_cast<unsigned long long>(entries);
    }
  }
  if (threadIdx.x == kScanThreads - 1) sort.offsets[k] = sums[threadIdx.x];
}

__global__ void sort_kernel(SortArguments sort) {
  if (lloyd_cuda::block_halted(sort.pass.halt)) return;
  for_each_entry(sort, [&](std::int32_t cluster, bool leaves, unsigned int row) {
    const ClusterPeers peers(cluster);
    unsigned int first = 0;
    if (peers.leads) first = atomicAdd(sort.cursors + cluster, peers.count());
    first = __shfl_sync(0xffffffffu, first, peers.leader());
    if (cluster >= 0) sort.sorted[first + peers.before()] = leaves ? row | kLeaves : row;
  });
}

// The sum of one feature over a run of samples of one cluster. Narrow values fit 50 bits, and a run
// has at most kMaxRun of them.
template <bool Narrow>
struct RunSum;
template <>
struct RunSum<true> {
  long long sum = 0;
  template <class T>
  __device__ void add(T x, double scale, int, bool leaves) {
    const long long value = lloyd_cuda::narrow_value(x, scale);
    sum += leaves ? -value : value;
  }
  __device__ DeviceInt128 total() const { return lloyd_cuda::sign_extend(sum); }
};
template <>
struct RunSum<false> {
  DeviceInt128 sum{0, 0};
  template <class T>
  __device__ void add(T x, double, int exponent, bool leaves) {
    const DeviceInt128 value = lloyd_cuda::wide_value(x, exponent);
    sum = sum + (leaves ? -value : value);
  }
  __device__ DeviceInt128 total() const { return sum; }
};

// Groups of `Lanes` lanes sum runs of the sorted list; a lane sums `Values` features, Lanes apart.
// blockIdx.y is a block of Lanes * Values features.
template <class T, bool Narrow, int Lanes, int Values>
__global__ void run_kernel(SortArguments sort, Samples<T> samples) {
  if (lloyd_cuda::block_halted(sort.pass.halt)) return;
  const Pass& pass = sort.pass;
  const std::int64_t d = samples.features;
  const auto k = static_cast<unsigned int>(pass.clusters);
  const unsigned int total = sort.offsets[k];
  const unsigned int groups = gridDim.x * (kThreads / Lanes);
  const unsigned int group = blockIdx.x * (kThreads / Lanes) + threadIdx.x / Lanes;
  const unsigned int even_share = (total + groups - 1) / groups;
  const unsigned int run = even_share < kMinRun   ? kMinRun
                           : even_share > kMaxRun ? kMaxRun
                                                  : even_share;
  const std::int64_t first_feature =
      std::int64_t{blockIdx.y} * Lanes * Values + threadIdx.x % Lanes;
  double scales[Values];
  int exponents[Values];
  bool exists[Values];
#pragma unroll
  for (int v = 0; v < Values; ++v) {
    const std::int64_t j = first_feature + v * Lanes;
    exists[v] = j < d;
    scales[v] = Narrow && exists[v] ? pass.scale.scales[j] : 0;
    exponents[v] = !Narrow && exists[v] ? pass.scale.exponents[j] : 0;
  }
  const T* const data = samples.row(pass.rows.begin) + first_feature * samples.feature_stride;
  for (std::uint64_t begin = std::uint64_t{group} * run; begin < total;
       begin += std::uint64_t{groups} * run) {
    auto position = static_cast<unsigned int>(begin);
    const unsigned int end = total - position < run ? total : position + run;
    // The cluster of the first entry: the last one whose offset is not beyond it.
    unsigned int cluster = 0;
    for (unsigned int beyond = k; beyond - cluster > 1;) {
      const unsigned int middle = cluster + (beyond - cluster) / 2;
      (sort.offsets[middle] <= position ? cluster : beyond) = middle;
    }
    while (position < end) {
      while (sort.offsets[cluster + 1] <= position) ++cluster;
      const unsigned int cluster_end = sort.offsets[cluster + 1];
      const unsigned int stop = cluster_end < end ? cluster_end : end;
      RunSum<Narrow> sums[Values];
#pragma unroll 2
      for (; position < stop; ++position) {
        const unsigned int entry = sort.sorted[position];
        const T* const x = data + std::int64_t{entry & ~kLeaves} * samples.row_stride;
#pragma unroll
        for (int v = 0; v < Values; ++v) {
          const T value = exists[v] ? x[v * Lanes * samples.feature_stride] : T{0};
          sums[v].add(value, scales[v], exponents[v], (entry & kLeaves) != 0);
        }
      }
#pragma unroll
      for (int v = 0; v < Values; ++v) {
        const DeviceInt128 sum = sums[v].total();
        if (!exists[v] || (sum.low == 0 && sum.high == 0)) continue;
        lloyd_cuda::atomic_add(pass.totals.sums + cluster * d + first_feature + v * Lanes, sum);
      }
    }
  }
}

template <class T, bool Narrow, int Lanes, int Values>
void launch_runs(const SortArguments& sort, const Samples<T>& samples, int multiprocessors) {
  const std::int64_t block = Lanes * Values;
  const auto feature_blocks = static_cast<unsigned>((samples.features + block - 1) / block);
  const dim3 grid(static_cast<unsigned>(multiprocessors * kBlocksPerMultiprocessor),
                  feature_blocks);
  run_kernel<T, Narrow, Lanes, Values><<<grid, kThreads, 0, sort.pass.stream>>>(sort, samples);
  lloyd_cuda::check_launch("run_kernel");
}

template <class T, bool Narrow>
void launch_for_features(const SortArguments& sort, const Samples<T>& samples,
                         int multiprocessors) {
  const std::int64_t d = samples.features;
  if (d <= 4) return launch_runs<T, Narrow, 4, 1>(sort, samples, multiprocessors);
  if (d <= 8) return launch_runs<T, Narrow, 8, 1>(sort, samples, multiprocessors);
  if (d <= 16) return launch_runs<T, Narrow, 16, 1>(sort, samples, multiprocessors);
  if (d <= 32) return launch_runs<T, Narrow, 32, 1>(sort, samples, multiprocessors);
  if (d <= 64) return launch_runs<T, Narrow, 32, 2>(sort, samples, multiprocessors);
  launch_runs<T, Narrow, 32, 4>(sort, samples, multiprocessors);
}

}  // namespace

void SlabSums::prepare(std::int64_t slab_rows, std::int64_t clusters, unsigned int* counters) {
  clusters_ = clusters;
  counters_ = counters;
  rows_.resize(slab_rows);
  former_.resize(slab_rows);
  sorted_.resize(2 * slab_rows);
  offsets_.resize(clusters + 1);
  cursors_.resize(clusters);
}

ChangedSamples SlabSums::changed() const {
  return {counters_, rows_.data(), former_.data()};
}

template <class T>
void SlabSums::enqueue(const Pass& pass, const Samples<T>& samples, bool all,
                       int multiprocessors) const {
  if (pass.rows.size() == 0) return;
  const SortArguments sort{
      pass, changed(), all, counters_ + 1, offsets_.data(), cursors_.data(), sorted_.data()};
  const auto blocks = static_cast<unsigned>(multiprocessors * 4);
  const std::size_t bytes =
      all && clusters_ <= kMaxSharedClusters ? static_cast<std::size_t>(clusters_) * 4 : 0;
  count_kernel<<<blocks, kThreads, bytes, pass.stream>>>(sort);
  lloyd_cuda::check_launch("count_kernel");
  offset_kernel<<<1, kScanThreads, 0, pass.stream>>>(sort);
  lloyd_cuda::check_launch("offset_kernel");
  sort_kernel<<<blocks, kThreads, 0, pass.stream>>>(sort);
  lloyd_cuda::check_launch("sort_kernel");
  if (pass.scale.narrow) {
    launch_for_features<T, true>(sort, samples, multiprocessors);
  } else {
    launch_for_features<T, false>(sort, samples, multiprocessors);
  }
}

template void SlabSums::enqueue(const Pass&, const Samples<float>&, bool, int) const;
template void SlabSums::enqueue(const Pass&, const Samples<double>&, bool, int) const;

}  // namespace lloyd_cuda_fast
