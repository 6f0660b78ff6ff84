#include "cuda-fast/decisions/slab_sums.hpp"

#include <algorithm>
#include <type_traits>

#include "cuda/device/check.hpp"
#include "cuda/passes/halt_flag.cuh"
#include "cuda/passes/integer_sums.cuh"

namespace lloyd_cuda_fast {
namespace {

using lloyd_cuda::DeviceInt128;
using lloyd_cuda::Pass;
using lloyd_cuda::Samples;
using lloyd_cuda::SumScale;

constexpr int kThreads = 256;
// Threads per block of count_kernel and sort_kernel.
constexpr int kSortThreads = 1024;
constexpr int kSortBlocksPerMultiprocessor = 2;
constexpr int kSortBatch = 4;  // samples that a thread loads at a time
// Maximum number of clusters that are counted in shared memory.
constexpr std::int64_t kMaxSharedClusters = 8192;
// Clusters have several counters if all of them fit this many words: lanes of a warp that count the
// same cluster then rarely update the same word.
constexpr std::int64_t kMaxCopiedCounters = 2048;
// Bounds of a chunk, the samples that a block counts at a time. A counter has 16 bits for the
// samples that enter a cluster, and 16 for those that leave it.
constexpr unsigned int kMinChunk = 1024;
constexpr unsigned int kMaxChunk = 1u << 15;
// Bounds of a run, the sorted entries that a group of lanes sums at a time: short runs keep all
// groups busy, long runs need fewer atomic additions.
constexpr unsigned int kMinRun = 8;
constexpr unsigned int kMaxRun = 256;
// An entry of the sorted list: the row relative to the slab; the top bit is set if the row leaves
// the cluster.
constexpr unsigned int kLeaves = 1u << 31;
// Increments for an entry that enters or leaves a cluster: of the counters of a chunk (two fields
// of 16 bits), and of SortArguments::entries, which count the whole slab (two fields of 32 bits).
constexpr unsigned int kChunkEnteringIncrement = 1;
constexpr unsigned int kChunkLeavingIncrement = 1u << 16;
constexpr unsigned long long kSlabEnteringIncrement = 1;
constexpr unsigned long long kSlabLeavingIncrement = 1ull << 32;
constexpr unsigned int kFullWarp = 0xffffffffu;

// Arguments of the kernels that sort and sum the rows of a slab.
struct SortArguments {
  Pass pass;  // its rows are the slab
  ChangedSamples changed;
  bool sums_all_rows;     // all rows enter their cluster; otherwise the changed ones move
  bool counts_in_shared;  // entries are counted per block in shared memory
  int copies_log2;        // counters per cluster in shared memory: 2^copies_log2, at most 32
  unsigned int* arrived;  // blocks of count_kernel that have counted all of their samples
  // Per cluster: entries of the sorted list, those that enter in the low word, those that leave in
  // the high word.
  unsigned long long* entries;
  unsigned int* offsets;  // k + 1
  unsigned int* cursors;  // k
  unsigned int* sorted;
};

// Samples of the list: all rows of the slab, or the changed ones. A block counts and sorts the same
// chunks of `size` consecutive samples.
struct Chunks {
  unsigned int samples;
  unsigned int size;
  unsigned int blocks;  // blocks with a chunk, and at least 1

  // Chunks are so large that the counters of a block are few beside its entries.
  __device__ explicit Chunks(const SortArguments& sort)
      : samples(sort.sums_all_rows ? static_cast<unsigned int>(sort.pass.rows.size())
                                   : *sort.changed.count) {
    const auto counters = static_cast<unsigned int>(
        !sort.counts_in_shared ? 0 : sort.pass.clusters / (sort.sums_all_rows ? 1 : 2));
    const unsigned int min_size = counters < kMinChunk ? kMinChunk : counters;
    const unsigned int even_share = (samples + gridDim.x - 1) / gridDim.x;
    size = even_share < min_size ? min_size : even_share > kMaxChunk ? kMaxChunk : even_share;
    const unsigned int chunks = (samples + size - 1) / size;
    blocks = chunks == 0 ? 1 : chunks < gridDim.x ? chunks : gridDim.x;
  }
  // Calls body(begin, end) for each chunk of this block.
  template <class Body>
  __device__ void for_each(const Body& body) const {
    for (unsigned int begin = blockIdx.x * size; begin < samples; begin += gridDim.x * size) {
      body(begin, samples - begin < size ? samples : begin + size);
    }
  }
};

// Calls body(cluster, former, row) for each sample of a chunk, in any order. All threads of the
// block call it equally often; for those without a sample, and without a former cluster, the
// clusters are negative.
template <class Body>
__device__ void for_each_sample(const SortArguments& sort, unsigned int begin, unsigned int end,
                                const Body& body) {
  const std::int32_t* const labels = sort.pass.labels + sort.pass.rows.begin;
  for (; begin < end; begin += kSortBatch * kSortThreads) {
    std::int32_t rows[kSortBatch];
    std::int32_t former[kSortBatch];
    std::int32_t clusters[kSortBatch];
#pragma unroll
    for (int b = 0; b < kSortBatch; ++b) {
      const unsigned int i = begin + b * kSortThreads + threadIdx.x;
      rows[b] = i < end ? static_cast<std::int32_t>(i) : -1;
      former[b] = -1;
      if (i < end && !sort.sums_all_rows) {
        rows[b] = sort.changed.rows[i];
        former[b] = sort.changed.former[i];
      }
    }
#pragma unroll
    for (int b = 0; b < kSortBatch; ++b) clusters[b] = rows[b] >= 0 ? labels[rows[b]] : -1;
#pragma unroll
    for (int b = 0; b < kSortBatch; ++b) {
      body(clusters[b], former[b], static_cast<unsigned int>(rows[b]));
    }
  }
}

// The lanes of a warp with the same cluster. Their leader performs one atomic addition for all.
struct ClusterPeers {
  unsigned int lanes;
  bool leads;  // this lane adds for all, unless the cluster is negative

  __device__ explicit ClusterPeers(std::int32_t cluster)
      : lanes(__match_any_sync(kFullWarp, cluster)),
        leads(cluster >= 0 && static_cast<int>(threadIdx.x % 32) == leader()) {}
  __device__ int leader() const { return __ffs(static_cast<int>(lanes)) - 1; }
  __device__ unsigned int count() const { return static_cast<unsigned int>(__popc(lanes)); }
  // Lanes before this one.
  __device__ unsigned int before() const {
    return static_cast<unsigned int>(__popc(lanes & ((1u << threadIdx.x % 32) - 1)));
  }
};

// Inclusive prefix sums within groups of `lanes` lanes, a power of two.
__device__ inline unsigned int prefix_sum(unsigned int value, unsigned int lanes) {
  for (unsigned int offset = 1; offset < lanes; offset *= 2) {
    const unsigned int left = __shfl_up_sync(kFullWarp, value, offset);
    if ((threadIdx.x & (lanes - 1)) >= offset) value += left;
  }
  return value;
}

// The counters of a block in shared memory: those of a cluster are consecutive, and a lane always
// updates the same one of them.
class SharedCounters {
 public:
  __device__ SharedCounters(unsigned int* words, const SortArguments& sort)
      : words_(words),
        copies_log2_(sort.copies_log2),
        count_(static_cast<unsigned int>(sort.pass.clusters) << sort.copies_log2) {}

  // Sets all counters to zero. The block synchronizes.
  __device__ void clear() const {
    for (unsigned int i = threadIdx.x; i < count_; i += kSortThreads) words_[i] = 0;
    __syncthreads();
  }
  // Adds to this lane's counter of a cluster, and returns its former value.
  __device__ unsigned int add(std::int32_t cluster, unsigned int value) const {
    const unsigned int copy = threadIdx.x & (copies() - 1);
    return atomicAdd(words_ + ((static_cast<unsigned int>(cluster) << copies_log2_) + copy), value);
  }
  // Calls first = reserve(cluster, total) for clusters whose counters have a total that is not 0,
  // and replaces each counter by `first` and the counters before it. The block synchronizes before
  // and after.
  template <class Reserve>
  __device__ void replace_by_positions(const Reserve& reserve) const {
    __syncthreads();
    for (unsigned int i = threadIdx.x; i < (count_ + 31) / 32 * 32; i += kSortThreads) {
      const unsigned int value = i < count_ ? words_[i] : 0;
      const unsigned int sum = prefix_sum(value, copies());
      const unsigned int lane = threadIdx.x % 32;
      const unsigned int last = lane | (copies() - 1);
      unsigned int first = 0;
      if (lane == last && sum != 0) first = reserve(i >> copies_log2_, sum);
      first = __shfl_sync(kFullWarp, first, static_cast<int>(last));
      if (i < count_) words_[i] = first + sum - value;
    }
    __syncthreads();
  }

 private:
  __device__ unsigned int copies() const { return 1u << copies_log2_; }

  unsigned int* words_;
  int copies_log2_;
  unsigned int count_;
};

// Computes the first position of each cluster in the sorted list, an exclusive prefix sum, and
// updates the counts of the totals. Called by all threads of one block.
__device__ void compute_offsets(const SortArguments& sort) {
  __shared__ unsigned int warp_sums[32];
  static_assert(kSortThreads == 32 * 32);
  const std::int64_t k = sort.pass.clusters;
  const std::int64_t share = (k + kSortThreads - 1) / kSortThreads;
  const std::int64_t begin = threadIdx.x * share < k ? threadIdx.x * share : k;
  const std::int64_t end = begin + share < k ? begin + share : k;
  const auto entering = [](unsigned long long entries) {
    return static_cast<unsigned int>(entries);
  };
  const auto leaving = [](unsigned long long entries) {
    return static_cast<unsigned int>(entries >> 32);
  };
  unsigned int sum = 0;
  for (std::int64_t c = begin; c < end; ++c) {
    const unsigned long long entries = __ldcg(sort.entries + c);
    sum += entering(entries) + leaving(entries);
  }
  const unsigned int warp = threadIdx.x / 32;
  const unsigned int lane = threadIdx.x % 32;
  const unsigned int inclusive = prefix_sum(sum, 32);
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  if (warp == 0) warp_sums[lane] = prefix_sum(warp_sums[lane], 32);
  __syncthreads();
  unsigned int position = inclusive - sum + (warp > 0 ? warp_sums[warp - 1] : 0);
  for (std::int64_t c = begin; c < end; ++c) {
    const unsigned long long entries = __ldcg(sort.entries + c);
    sort.offsets[c] = position;
    sort.cursors[c] = position;
    position += entering(entries) + leaving(entries);
    if (entries != 0) {
      sort.pass.totals.counts[c] += static_cast<unsigned long long>(entering(entries)) -
                                    static_cast<unsigned long long>(leaving(entries));
    }
  }
  if (threadIdx.x == kSortThreads - 1) sort.offsets[k] = warp_sums[31];
}

// Counts the entries of each cluster. The last block to arrive computes the offsets.
__global__ void __launch_bounds__(kSortThreads, kSortBlocksPerMultiprocessor)
    count_kernel(SortArguments sort) {
  extern __shared__ unsigned int shared_counters[];
  __shared__ bool is_last;
  if (lloyd_cuda::block_halted(sort.pass.halt)) return;
  const Chunks chunks(sort);
  if (blockIdx.x >= chunks.blocks) return;
  chunks.for_each([&](unsigned int begin, unsigned int end) {
    if (sort.counts_in_shared) {
      const SharedCounters counters(shared_counters, sort);
      counters.clear();
      for_each_sample(sort, begin, end, [&](std::int32_t cluster, std::int32_t former, unsigned) {
        if (cluster >= 0) counters.add(cluster, kChunkEnteringIncrement);
        if (former >= 0) counters.add(former, kChunkLeavingIncrement);
      });
      counters.replace_by_positions([&](unsigned int cluster, unsigned int total) {
        const unsigned long long entering = total % kChunkLeavingIncrement;
        const unsigned long long leaving = total / kChunkLeavingIncrement;
        atomicAdd(sort.entries + cluster,
                  entering * kSlabEnteringIncrement + leaving * kSlabLeavingIncrement);
        return 0u;
      });
      return;
    }
    const auto add = [&](std::int32_t cluster, unsigned long long entry) {
      const ClusterPeers peers(cluster);
      if (peers.leads) atomicAdd(sort.entries + cluster, peers.count() * entry);
    };
    for_each_sample(sort, begin, end, [&](std::int32_t cluster, std::int32_t former, unsigned) {
      add(cluster, kSlabEnteringIncrement);
      if (!sort.sums_all_rows) add(former, kSlabLeavingIncrement);
    });
  });
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(sort.arrived, 1u) == chunks.blocks - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last) compute_offsets(sort);
}

// Sorts the entries by cluster.
__global__ void __launch_bounds__(kSortThreads, kSortBlocksPerMultiprocessor)
    sort_kernel(SortArguments sort) {
  extern __shared__ unsigned int shared_counters[];
  if (lloyd_cuda::block_halted(sort.pass.halt)) return;
  const Chunks chunks(sort);
  if (blockIdx.x >= chunks.blocks) return;
  chunks.for_each([&](unsigned int begin, unsigned int end) {
    if (sort.counts_in_shared) {
      const SharedCounters counters(shared_counters, sort);
      counters.clear();
      for_each_sample(sort, begin, end, [&](std::int32_t cluster, std::int32_t former, unsigned) {
        if (cluster >= 0) counters.add(cluster, 1);
        if (former >= 0) counters.add(former, 1);
      });
      counters.replace_by_positions([&](unsigned int cluster, unsigned int total) {
        return atomicAdd(sort.cursors + cluster, total);
      });
      for_each_sample(sort, begin, end,
                      [&](std::int32_t cluster, std::int32_t former, unsigned int row) {
                        if (cluster >= 0) sort.sorted[counters.add(cluster, 1)] = row;
                        if (former >= 0) sort.sorted[counters.add(former, 1)] = row | kLeaves;
                      });
      __syncthreads();  // before the counters are cleared
      return;
    }
    const auto place = [&](std::int32_t cluster, unsigned int entry) {
      const ClusterPeers peers(cluster);
      unsigned int first = 0;
      if (peers.leads) first = atomicAdd(sort.cursors + cluster, peers.count());
      first = __shfl_sync(kFullWarp, first, peers.leader());
      if (cluster >= 0) sort.sorted[first + peers.before()] = entry;
    };
    for_each_sample(sort, begin, end,
                    [&](std::int32_t cluster, std::int32_t former, unsigned int row) {
                      place(cluster, row);
                      if (!sort.sums_all_rows) place(former, row | kLeaves);
                    });
  });
}

// The sum of one feature over a run of samples of one cluster, at most kMaxRun, in one of three
// forms. `Scale` is what a lane keeps of the feature's scale; min_blocks(values) are the blocks of
// run_kernel that a multiprocessor runs at a time, if a lane sums so many features.
template <class T>
struct NarrowSum {  // of values with at most 50 bits
  using Scale = double;
  __host__ __device__ static constexpr int min_blocks(int values) { return values < 4 ? 4 : 2; }
  long long sum = 0;
  __device__ static Scale scale(const SumScale& scale, std::int64_t j) { return scale.scales[j]; }
  __device__ void add(T x, Scale scale) { sum += lloyd_cuda::narrow_value(x, scale); }
  __device__ DeviceInt128 total() const { return lloyd_cuda::sign_extend(sum); }
};
template <class T>
struct WideSum {
  using Scale = int;
  __host__ __device__ static constexpr int min_blocks(int values) { return values < 4 ? 4 : 2; }
  DeviceInt128 sum{0, 0};
  __device__ static Scale scale(const SumScale& scale, std::int64_t j) {
    return scale.exponents[j];
  }
  __device__ void add(T x, Scale exponent) { sum = sum + lloyd_cuda::wide_value(x, exponent); }
  __device__ DeviceInt128 total() const { return sum; }
};
template <int Limbs>
struct FloatSum {  // of float32 values
  static_assert(kMaxRun <= 256);
  using Scale = float;
  // As many as possible without spills, to hide the latency of loads.
  __host__ __device__ static constexpr int min_blocks(int values) {
    return (values < 4 ? 5 : 4) - (Limbs == 4 && values > 1 ? 1 : 0);
  }
  lloyd_cuda::FloatLimbs<Limbs> sum;
  __device__ static Scale scale(const SumScale& scale, std::int64_t j) {
    return lloyd_cuda::FloatLimbs<Limbs>::magic(scale.exponents[j]);
  }
  __device__ void add(float x, Scale magic) { sum.add(x, magic); }
  __device__ DeviceInt128 total() const { return sum.total(); }
};

// Groups of `Lanes` lanes sum runs of the sorted list; a lane sums `Values` features, Lanes apart.
// blockIdx.y is a block of Lanes * Values features.
template <class T, class Sum, int Lanes, int Values>
__global__ void __launch_bounds__(kThreads, Sum::min_blocks(Values))
    run_kernel(SortArguments sort, Samples<T> samples) {
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
  typename Sum::Scale scales[Values];
  bool exists[Values];
#pragma unroll
  for (int v = 0; v < Values; ++v) {
    const std::int64_t j = first_feature + v * Lanes;
    exists[v] = j < d;
    scales[v] = Sum::scale(pass.scale, exists[v] ? j : 0);
  }
  // Rows are gathered, so a lane loads its values of several rows before it adds them.
  constexpr int kRows = sizeof(T) == sizeof(float) && Values == 4 ? 4 : 8 / Values;
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
      Sum sums[Values];
      // Missing rows of a partial batch count as zeros.
      const auto add_batch = [&](auto is_partial) {
        unsigned int entries[kRows];
        T values[kRows][Values];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const bool present = !is_partial || position + r < stop;
          entries[r] = present ? sort.sorted[position + r] : 0;
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const bool present = !is_partial || position + r < stop;
          const T* const x = data + std::int64_t{entries[r] & ~kLeaves} * samples.row_stride;
#pragma unroll
          for (int v = 0; v < Values; ++v) {
            values[r][v] = present && exists[v] ? x[v * Lanes * samples.feature_stride] : T{0};
          }
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int v = 0; v < Values; ++v) {
            const T x = values[r][v];
            sums[v].add((entries[r] & kLeaves) != 0 ? -x : x, scales[v]);
          }
        }
        position += kRows;
      };
      while (stop - position >= kRows) add_batch(std::false_type{});
      if (position < stop) add_batch(std::true_type{});
      position = stop;
#pragma unroll
      for (int v = 0; v < Values; ++v) {
        const DeviceInt128 sum = sums[v].total();
        if (!exists[v] || (sum.low == 0 && sum.high == 0)) continue;
        lloyd_cuda::atomic_add(pass.totals.sums + cluster * d + first_feature + v * Lanes, sum);
      }
    }
  }
}

// Launches no more blocks than are resident, unless d needs more feature blocks. With fewer
// blocks, runs are longer, and need fewer searches and atomic additions.
template <class T, class Sum, int Lanes, int Values>
void launch_runs(const SortArguments& sort, const Samples<T>& samples, int multiprocessors) {
  const std::int64_t block = Lanes * Values;
  const auto feature_blocks = static_cast<unsigned>((samples.features + block - 1) / block);
  const auto blocks = static_cast<unsigned>(multiprocessors * Sum::min_blocks(Values));
  const dim3 grid(std::max(blocks / feature_blocks, 1u), feature_blocks);
  run_kernel<T, Sum, Lanes, Values><<<grid, kThreads, 0, sort.pass.stream>>>(sort, samples);
  lloyd_cuda::check_launch("run_kernel");
}

template <class Sum, class T>
void launch_for_features(const SortArguments& sort, const Samples<T>& samples,
                         int multiprocessors) {
  const std::int64_t d = samples.features;
  if (d <= 4) return launch_runs<T, Sum, 4, 1>(sort, samples, multiprocessors);
  if (d <= 8) return launch_runs<T, Sum, 8, 1>(sort, samples, multiprocessors);
  if (d <= 16) return launch_runs<T, Sum, 16, 1>(sort, samples, multiprocessors);
  if (d <= 32) return launch_runs<T, Sum, 32, 1>(sort, samples, multiprocessors);
  if (d <= 64) return launch_runs<T, Sum, 32, 2>(sort, samples, multiprocessors);
  launch_runs<T, Sum, 32, 4>(sort, samples, multiprocessors);
}

void launch_for_scale(const SortArguments& sort, const Samples<float>& samples,
                      int multiprocessors) {
  switch (sort.pass.scale.float_limbs) {
    case 1:
      return launch_for_features<FloatSum<1>>(sort, samples, multiprocessors);
    case 2:
      return launch_for_features<FloatSum<2>>(sort, samples, multiprocessors);
    case 3:
      return launch_for_features<FloatSum<3>>(sort, samples, multiprocessors);
    case 4:
      return launch_for_features<FloatSum<4>>(sort, samples, multiprocessors);
    default:
      return launch_for_features<WideSum<float>>(sort, samples, multiprocessors);
  }
}

void launch_for_scale(const SortArguments& sort, const Samples<double>& samples,
                      int multiprocessors) {
  if (sort.pass.scale.narrow) {
    launch_for_features<NarrowSum<double>>(sort, samples, multiprocessors);
  } else {
    launch_for_features<WideSum<double>>(sort, samples, multiprocessors);
  }
}

}  // namespace

std::int64_t SlabSums::counter_words(std::int64_t clusters) {
  return 2 + 2 * clusters;
}

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
  SortArguments sort;
  sort.pass = pass;
  sort.changed = changed();
  sort.sums_all_rows = all;
  sort.counts_in_shared = clusters_ <= kMaxSharedClusters;
  sort.copies_log2 = 0;
  while (sort.copies_log2 < 5 && clusters_ << (sort.copies_log2 + 1) <= kMaxCopiedCounters) {
    ++sort.copies_log2;
  }
  sort.arrived = counters_ + 1;
  sort.entries = reinterpret_cast<unsigned long long*>(counters_ + 2);
  sort.offsets = offsets_.data();
  sort.cursors = cursors_.data();
  sort.sorted = sorted_.data();
  const auto blocks = static_cast<unsigned>(multiprocessors * kSortBlocksPerMultiprocessor);
  const std::size_t bytes =
      sort.counts_in_shared
          ? (static_cast<std::size_t>(clusters_) << sort.copies_log2) * sizeof(unsigned int)
          : 0;
  count_kernel<<<blocks, kSortThreads, bytes, pass.stream>>>(sort);
  lloyd_cuda::check_launch("count_kernel");
  sort_kernel<<<blocks, kSortThreads, bytes, pass.stream>>>(sort);
  lloyd_cuda::check_launch("sort_kernel");
  launch_for_scale(sort, samples, multiprocessors);
}

template void SlabSums::enqueue(const Pass&, const Samples<float>&, bool, int) const;
template void SlabSums::enqueue(const Pass&, const Samples<double>&, bool, int) const;

}  // namespace lloyd_cuda_fast
