// A pass of a grid: labels samples and, if fused, sums them in shared memory.
#pragma once

#include <cstdint>
#include <limits>

#include "block_sums.cuh"
#include "cuda/passes/distance.cuh"
#include "cuda/passes/halt_flag.cuh"
#include "kernels.hpp"

namespace lloyd_cuda_fused {

using lloyd_cuda::CentroidSpace;
using lloyd_cuda::Pass;
using lloyd_cuda::Samples;

// Without this bound some kernels use more registers than a block of that size has.
template <int D>
constexpr int kMaxThreads = max_block_size(D, true);
// Samples per thread, so that a centroid that is read serves several.
constexpr int kRows = 2;
// Centroids per thread at a time, for a number of features that is not in registers.
constexpr int kGroup = 8;

// True if a warp adds one row at a time, one feature per lane; rows are then contiguous.
template <int D>
constexpr bool kCooperate = D >= 8;
// True if rows are read four values at a time.
template <class T, int D>
constexpr bool kReadsFour = kCooperate<D> && sizeof(T) == sizeof(float);
// Centroids that a thread reads together, such that they end on a multiple of 16 bytes.
template <int D>
constexpr int kTogether = D % 4 == 0   ? 1
                          : D % 2 == 0 ? 2
                                       : 4;

constexpr unsigned int kFullWarp = 0xffffffffu;

static __constant__ __align__(16) double constant_memory[lloyd_cuda::kConstantBytes / 8];

template <CentroidSpace Space, class Real>
struct Centroids {
  const Real* values;
  __device__ const Real* at(std::int64_t index) const {
    if constexpr (Space == CentroidSpace::constant) {
      return reinterpret_cast<const Real*>(constant_memory) + index;
    } else {
      return values + index;
    }
  }
  __device__ Real operator[](std::int64_t index) const {
    return Space == CentroidSpace::global ? __ldg(at(index)) : *at(index);
  }
  // Four values; `index` is a multiple of 4.
  __device__ float4 four(std::int64_t index) const {
    const auto* const values = reinterpret_cast<const float4*>(at(index));
    return Space == CentroidSpace::global ? __ldg(values) : *values;
  }
};

template <class Real>
struct Nearest {
  Real lowest = std::numeric_limits<Real>::infinity();
  std::int32_t label = 0;

  __device__ void update(Real distance, std::int64_t c) {
    if (distance < lowest) {
      lowest = distance;
      label = static_cast<std::int32_t>(c);
    }
  }
};

template <class T, class Real, int D>
__device__ inline void read_row(const Samples<T>& samples, std::int64_t row, Real (&x)[D]) {
  const T* const from = samples.row(row);
  if constexpr (kReadsFour<T, D>) {
#pragma unroll
    for (int j = 0; j < D; j += 4) {
      const float4 four = __ldg(reinterpret_cast<const float4*>(from + j));
      x[j] = four.x;
      x[j + 1] = four.y;
      x[j + 2] = four.z;
      x[j + 3] = four.w;
    }
  } else {
#pragma unroll
    for (int j = 0; j < D; ++j) x[j] = static_cast<Real>(from[j * samples.feature_stride]);
  }
}

// Compares rows with centroids c, ..., c + kCount - 1, which are read four values at a time if
// `kFour` is true. Then c x D is a multiple of 4.
template <int kCount, bool kFour, int D, class C, class Real>
__device__ inline void compare(const Real (&x)[kRows][D], const C& centroids, int c,
                               Nearest<Real> (&nearest)[kRows]) {
  Real distance[kCount][kRows] = {};
  const auto add = [&](int at, Real value) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      distance[at / D][r] =
          lloyd_cuda::add_square(distance[at / D][r], lloyd_cuda::subtract(x[r][at % D], value));
    }
  };
#pragma unroll
  for (int at = 0; at < kCount * D; at += kFour ? 4 : 1) {
    if constexpr (kFour) {
      const float4 four = centroids.four(c * D + at);
      add(at, four.x);
      add(at + 1, four.y);
      add(at + 2, four.z);
      add(at + 3, four.w);
    } else {
      add(at, centroids[c * D + at]);
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) nearest[r].update(distance[i][r], c + i);
  }
}

// The nearest centroids of kRows rows. D is the number of features if they are held in
// registers; 0: any number.
template <class T, class Real, int D, class C>
__device__ inline void find_nearest(const Samples<T>& samples, const std::int64_t (&rows)[kRows],
                                    const C& centroids, std::int64_t clusters,
                                    Nearest<Real> (&nearest)[kRows]) {
  if constexpr (D > 0) {
    Real x[kRows][D];
#pragma unroll
    for (int r = 0; r < kRows; ++r) read_row<T, Real, D>(samples, rows[r], x[r]);
    const int k = static_cast<int>(clusters);
    int c = 0;
    for (; c + kTogether<D> <= k; c += kTogether<D>) {
      compare<kTogether<D>, true, D>(x, centroids, c, nearest);
    }
    for (; c < k; ++c) compare<1, false, D>(x, centroids, c, nearest);
  } else {
    const std::int64_t d = samples.features;
    for (std::int64_t first = 0; first < clusters; first += kGroup) {
      Real distance[kRows][kGroup] = {};
      // If fewer are left, the last one is computed repeatedly and considered once.
      const std::int64_t last = clusters - 1;
      for (std::int64_t j = 0; j < d; ++j) {
        Real x[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          x[r] = static_cast<Real>(samples.row(rows[r])[j * samples.feature_stride]);
        }
#pragma unroll
        for (int g = 0; g < kGroup; ++g) {
          const std::int64_t c = first + g < last ? first + g : last;
          const Real value = centroids[c * d + j];
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            distance[r][g] =
                lloyd_cuda::add_square(distance[r][g], lloyd_cuda::subtract(x[r], value));
          }
        }
      }
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        if (first + g > last) break;
#pragma unroll
        for (int r = 0; r < kRows; ++r) nearest[r].update(distance[r][g], first + g);
      }
    }
  }
}

// Destination of sums: shared memory, or the totals in global memory if the sums of a block do not
// fit and only changed samples are added.
struct SumTarget {
  BlockSums& block;
  const Pass& pass;
  bool uses_block;
  std::int64_t features;

  // Adds feature j of a sample, a multiple of 2^exponent, to a cluster, or subtracts it (sign =
  // -1).
  template <class T>
  __device__ void add(std::int64_t label, std::int64_t j, T x, int exponent, int sign) {
    const T value = sign < 0 ? -x : x;
    if (uses_block) {
      lloyd_cuda::add_to_limbs(block.sum_of(label) + j, block.tile.limb_stride, value, exponent);
    } else {
      lloyd_cuda::atomic_add(pass.totals.sums + label * features + j,
                             lloyd_cuda::exact_value(value, pass.scale, j));
    }
    if (j == 0) count(label, sign);
  }
  __device__ void count(std::int64_t label, int sign) {
    if (uses_block) {
      block.count(label, sign);
    } else {
      atomicAdd(pass.totals.counts + label,
                static_cast<unsigned long long>(static_cast<long long>(sign)));
    }
  }
};

// Adds rows of a warp to the clusters `to`, and subtracts them from the clusters `from` (-1: none).
// Each lane holds the labels of one row; rows with to = -1 are left out. Neighbouring lanes add
// neighbouring features of a row, so that they access different banks. Rows are contiguous, and
// `exponent` is that of feature `lane % D`.
template <int D, class T>
__device__ inline void add_rows(SumTarget& target, const Samples<T>& samples,
                                std::int64_t first_row, std::int32_t to, std::int32_t from,
                                int exponent) {
  constexpr int kRowsTogether = 32 / D;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int feature = lane % D;
  unsigned int pending = __ballot_sync(kFullWarp, to >= 0);
  while (pending != 0) {
    int row = -1;
#pragma unroll
    for (int r = 0; r < kRowsTogether; ++r) {
      if (lane / D == r) row = __ffs(static_cast<int>(pending)) - 1;  // -1 if none is left
      pending &= pending - 1;
    }
    const int source = row < 0 ? 0 : row;
    const std::int32_t row_to = __shfl_sync(kFullWarp, to, source);
    const std::int32_t row_from = __shfl_sync(kFullWarp, from, source);
    if (row < 0) continue;
    const T x = samples.row(first_row + row)[feature];
    target.add(row_to, feature, x, exponent, 1);
    if (row_from >= 0) target.add(row_from, feature, x, exponent, -1);
  }
}

// The rows of a warp that change the sums, collected until there is one for every lane. In shared
// memory.
template <class T, int D>
class ChangeQueue {
 public:
  // `memory` holds kQueueBytes for each warp of the block. `first_row` is the first row of the
  // block.
  __device__ ChangeQueue(SumTarget& target, const Samples<T>& samples, char* memory,
                         std::int64_t first_row)
      : target_(target),
        samples_(samples),
        entries_(reinterpret_cast<Entry*>(memory + threadIdx.x / 32 * kQueueBytes)),
        first_row_(first_row) {}

  // Adds a row per lane to the cluster `to`, and subtracts it from the cluster `from` (-1: none).
  // Lanes with to = -1 have no row.
  __device__ void push(std::int64_t row, std::int32_t to, std::int32_t from) {
    const unsigned int mask = __ballot_sync(kFullWarp, to >= 0);
    if (mask == 0) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (to >= 0) {
      entries_[count_ + __popc(mask & ((1u << lane) - 1))] = {
          static_cast<std::int32_t>(row - first_row_), to, from};
    }
    count_ += __popc(mask);
    __syncwarp();
    if (count_ < 32) return;
    count_ -= 32;
    add(entries_[count_ + lane]);
    __syncwarp();
  }
  // Adds what is left.
  __device__ void drain() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane < count_) add(entries_[lane]);
    count_ = 0;
    __syncwarp();
  }

 private:
  struct Entry {
    std::int32_t row, to, from;
  };
  static_assert(2 * 32 * sizeof(Entry) == kQueueBytes);

  __device__ void add(const Entry& entry) {
    const T* const x = samples_.row(first_row_ + entry.row);
    const int features = D > 0 ? D : static_cast<int>(samples_.features);
#pragma unroll
    for (int j = 0; j < features; ++j) {
      const T value = x[j * samples_.feature_stride];
      const int exponent = target_.pass.scale.exponents[j];
      target_.add(entry.to, j, value, exponent, 1);
      if (entry.from >= 0) target_.add(entry.from, j, value, exponent, -1);
    }
  }

  SumTarget& target_;
  const Samples<T>& samples_;
  Entry* entries_;
  std::int64_t first_row_;
  int count_ = 0;  // the same in all lanes
};

// What a block does with the rows that it labels.
struct RowWork {
  bool accumulates;     // adds them to the block's sums
  bool updates_totals;  // adds those that change to the totals in global memory
  bool reads_labels;    // compares labels with the former ones and writes those that change
};

// Assigns and sums rows of a pass: every block of the grid takes its share of them. `queues` is
// shared memory of kQueueBytes per warp, used unless kCooperate<D>. Returns how many labels this
// thread changed.
template <class T, class Real, int D, class C>
__device__ inline unsigned int assign_rows(const Pass& pass, const Samples<T>& samples,
                                           const C& centroids, const RowWork& work, BlockSums& sums,
                                           char* queues) {
  constexpr int kWarpRows = 32 * kRows;
  const std::int64_t d = samples.features;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t share = (pass.rows.size() + gridDim.x - 1) / gridDim.x;
  const std::int64_t block_rows = (share + 31) / 32 * 32;  // aligned for loads of warps
  const std::int64_t block_begin = pass.rows.begin + blockIdx.x * block_rows;
  const std::int64_t block_end =
      block_begin + block_rows < pass.rows.end ? block_begin + block_rows : pass.rows.end;
  const std::int64_t tile_rows = static_cast<std::int64_t>(blockDim.x) * kRows;
  SumTarget target{sums, pass, work.accumulates, d};
  ChangeQueue<T, D> queue(target, samples, queues, block_begin);
  const bool adds = work.accumulates || work.updates_totals;
  int exponent = 0;
  if constexpr (kCooperate<D>) {
    if (work.accumulates) exponent = pass.scale.exponents[lane % D];
  }
  std::int64_t rows_since_flush = 0;
  unsigned int changed = 0;
  for (std::int64_t tile = block_begin; tile < block_end; tile += tile_rows) {
    if (work.accumulates && rows_since_flush + tile_rows > lloyd_cuda::kSharedLimbRows) {
      if constexpr (!kCooperate<D>) queue.drain();
      __syncthreads();
      sums.flush(pass.totals, pass.scale, pass.clusters, d);
      __syncthreads();
      sums.clear();
      __syncthreads();
      rows_since_flush = 0;
    }
    rows_since_flush += tile_rows;
    const std::int64_t warp_begin = tile + static_cast<std::int64_t>(threadIdx.x / 32) * kWarpRows;
    if (warp_begin >= block_end) continue;

    // Threads beyond the last row process it again without effect.
    std::int64_t rows[kRows];
    bool in_range[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      rows[r] = warp_begin + r * 32 + lane;
      in_range[r] = rows[r] < block_end;
      if (!in_range[r]) rows[r] = block_end - 1;
    }
    Nearest<Real> nearest[kRows];
    find_nearest<T, Real, D>(samples, rows, centroids, pass.clusters, nearest);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::int32_t label = nearest[r].label;
      std::int32_t former = -1;
      if (in_range[r] && work.reads_labels) {
        former = pass.labels[rows[r]];
        if (former != label) {
          ++changed;
          pass.labels[rows[r]] = label;
        }
      }
      if (!adds) continue;
      std::int32_t to = in_range[r] ? label : -1;
      if (!pass.sums_only_changes) {
        former = -1;
      } else if (former == label) {
        to = -1;
      }
      if constexpr (kCooperate<D>) {
        add_rows<D>(target, samples, warp_begin + r * 32, to, former, exponent);
      } else {
        queue.push(rows[r], to, former);
      }
    }
  }
  if constexpr (!kCooperate<D>) queue.drain();
  return changed;
}

// The sum over the warp, in lane 0.
__device__ inline unsigned int sum_of_warp(unsigned int value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(kFullWarp, value, offset);
  }
  return value;
}

// Assigns and sums the rows of a pass, grid-wide. Returns false for all threads of a block if the
// fit has halted.
template <class T, class Real, int D, CentroidSpace Space>
__device__ inline bool run_pass(const Pass& pass, const Samples<T>& samples, const Real* centroids,
                                const Configuration& configuration,
                                unsigned long long* shared_memory) {
  if (lloyd_cuda::block_halted(pass.halt)) return false;
  const std::int64_t d = samples.features;
  if constexpr (Space == CentroidSpace::shared) {
    Real* copy = reinterpret_cast<Real*>(shared_memory);
    for (std::int64_t i = threadIdx.x; i < pass.clusters * d; i += blockDim.x) {
      copy[i] = centroids[i];
    }
    centroids = copy;
  }
  RowWork work;
  work.accumulates = configuration.fused && pass.accumulates();
  work.updates_totals = !configuration.fused && sums_changes_only(pass);
  work.reads_labels = pass.changed != nullptr || !configuration.fused;
  auto* const block_memory =
      reinterpret_cast<unsigned int*>(shared_memory + configuration.centroids_bytes / 8);
  BlockSums sums(configuration.tile, block_memory, 0, 0);
  if (work.accumulates) sums.clear();
  __syncthreads();
  const Centroids<Space, Real> source{centroids};
  char* const queues =
      reinterpret_cast<char*>(block_memory) + (work.accumulates ? configuration.tile_bytes : 0);
  const unsigned int changed =
      sum_of_warp(assign_rows<T, Real, D>(pass, samples, source, work, sums, queues));
  if (threadIdx.x % 32 == 0 && pass.changed != nullptr && changed != 0) {
    atomicAdd(pass.changed, static_cast<unsigned long long>(changed));
  }
  if (work.accumulates) {
    __syncthreads();
    sums.flush(pass.totals, pass.scale, pass.clusters, d);
  }
  return true;
}

template <class Real>
__host__ __device__ const Real* centroids_of(const Pass& pass) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return pass.rounded;
  } else {
    return pass.centroids;
  }
}

// Calls launch.operator()<Real, D>() for the type of the distances and the number of features in
// registers.
template <class T, class Launch>
void launch_for(const Pass& pass, std::int64_t features, const Launch& launch) {
  if (sizeof(T) == sizeof(double) || pass.in_float64) {
    launch.template operator()<double, 0>();
    return;
  }
  if constexpr (sizeof(T) == sizeof(float)) {
    // Few features are held in registers.
    switch (features) {
      case 1:
        return launch.template operator()<float, 1>();
      case 2:
        return launch.template operator()<float, 2>();
      case 3:
        return launch.template operator()<float, 3>();
      case 4:
        return launch.template operator()<float, 4>();
      case 8:
        return launch.template operator()<float, 8>();
      case 16:
        return launch.template operator()<float, 16>();
      case 32:
        return launch.template operator()<float, 32>();
      default:
        return launch.template operator()<float, 0>();
    }
  }
}

}  // namespace lloyd_cuda_fused
