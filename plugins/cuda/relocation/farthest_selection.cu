#include "cuda/relocation/farthest_selection.hpp"

#include <algorithm>
#include <bit>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_merge_sort.cuh>

#include "cuda/device/check.hpp"
#include "cuda/passes/distance.cuh"
#include "cuda/passes/halt_flag.cuh"

namespace lloyd_cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kBlocks = 1024;
constexpr int kDigitBits = 11;
constexpr int kBins = 1 << kDigitBits;
constexpr int kBinsPerThread = 2;
constexpr int kPickThreads = kBins / kBinsPerThread;
// The sign of a distance is 0. The first digit is the exponent.
constexpr int kDistanceBits = 63;

// Bits begin to end - 1 of one member of a SelectionKey. A bucket is the samples with the same
// higher digits.
struct Digit {
  bool is_row_digit;  // true: of SelectionKey::rows_after; false: of SelectionKey::distance
  int begin;
  int end;

  __device__ bool in_bucket(const SelectionKey& a, const SelectionKey& b) const {
    if (!is_row_digit) return a.distance >> end == b.distance >> end;
    return a.distance == b.distance && a.rows_after >> end == b.rows_after >> end;
  }
  __device__ int extract(const SelectionKey& key) const {
    const unsigned long long bits = is_row_digit ? key.rows_after : key.distance;
    return static_cast<int>(bits >> begin & ((1ull << (end - begin)) - 1));
  }
  __device__ void set(SelectionKey& key, int digit) const {
    (is_row_digit ? key.rows_after : key.distance) |= static_cast<unsigned long long>(digit)
                                                      << begin;
  }
};

// A part of the assigned rows, with its samples.
template <class T>
struct Part {
  AssignedRows assigned;
  lloyd::RowRange rows;
  Samples<T> samples;
};

struct Farther {
  __device__ bool operator()(const lloyd::FarSample& a, const lloyd::FarSample& b) const {
    return a.squared_distance != b.squared_distance ? a.squared_distance > b.squared_distance
                                                    : a.row < b.row;
  }
};

// Calls body(row, label, key) for the samples of this thread at a distance > 0.
template <class T, class Body>
__device__ void for_each_key(const Part<T>& part, const Body& body) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (std::int64_t row = part.rows.begin + first; row < part.rows.end; row += step) {
    const std::int32_t label = part.assigned.labels[row];
    const double* const centroid = part.assigned.centroids + label * part.samples.features;
    const double distance = exact_distance(part.samples, row, centroid);
    if (!(distance > 0)) continue;
    body(row, label,
         SelectionKey{static_cast<unsigned long long>(__double_as_longlong(distance)),
                      static_cast<unsigned long long>(part.assigned.rows.end - 1 - row)});
  }
}

// Adds the samples in the bucket of the threshold to a histogram of their next digit. Each thread
// counts a run of equal digits in a register, since many samples have the same exponent, or the
// same distance.
template <class T>
__global__ void __launch_bounds__(kThreads)
    histogram_kernel(Part<T> part, Digit digit, const SelectionState* state,
                     unsigned long long* histogram) {
  __shared__ unsigned int counts[kBins];
  if (block_halted(part.assigned.halt) || state->settled != 0) return;
  for (int bin = static_cast<int>(threadIdx.x); bin < kBins; bin += kThreads) counts[bin] = 0;
  __syncthreads();

  const SelectionKey threshold = state->threshold;
  int last_bin = 0;
  unsigned int run_length = 0;
  for_each_key(part, [&](std::int64_t, std::int32_t, const SelectionKey& key) {
    if (!digit.in_bucket(key, threshold)) return;
    const int bin = digit.extract(key);
    if (bin != last_bin && run_length != 0) {
      atomicAdd(counts + last_bin, run_length);
      run_length = 0;
    }
    last_bin = bin;
    ++run_length;
  });
  if (run_length != 0) atomicAdd(counts + last_bin, run_length);
  __syncthreads();

  for (int bin = static_cast<int>(threadIdx.x); bin < kBins; bin += kThreads) {
    if (counts[bin] != 0) atomicAdd(histogram + bin, static_cast<unsigned long long>(counts[bin]));
  }
}

// Extends the threshold by the digit of the last sample that is wanted, and clears the histogram.
// One block.
__global__ void __launch_bounds__(kPickThreads)
    pick_kernel(Digit digit, std::int64_t wanted, std::int64_t capacity, SelectionState* state,
                unsigned long long* histogram) {
  using Scan = cub::BlockScan<long long, kPickThreads>;
  __shared__ typename Scan::TempStorage memory;
  if (state->settled != 0) return;
  const std::int64_t above = state->above;
  // Larger digits first.
  const int first_bin = kBins - 1 - static_cast<int>(threadIdx.x) * kBinsPerThread;
  long long counts[kBinsPerThread];
  for (int i = 0; i < kBinsPerThread; ++i) {
    counts[i] = static_cast<long long>(histogram[first_bin - i]);
    histogram[first_bin - i] = 0;
  }
  __syncthreads();  // all threads have read the state
  long long before[kBinsPerThread];
  long long total = 0;
  Scan(memory).ExclusiveSum(counts, before, total);
  for (int i = 0; i < kBinsPerThread; ++i) {
    const std::int64_t larger = above + before[i];
    const std::int64_t candidates = larger + counts[i];
    if (larger >= wanted || candidates < wanted) continue;  // true of all bins but one
    digit.set(state->threshold, first_bin - i);
    state->above = larger;
    state->settled = candidates <= capacity ? 1 : 0;
  }
  // Fewer samples than wanted are at a distance > 0.
  if (threadIdx.x == 0 && above + total < wanted) state->settled = 1;
}

// Gathers the candidates, in any order.
template <class T>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(Part<T> part, SelectionState* state, lloyd::FarSample* candidates,
                  std::int64_t capacity) {
  if (block_halted(part.assigned.halt)) return;
  const SelectionKey threshold = state->threshold;
  for_each_key(part, [&](std::int64_t row, std::int32_t label, const SelectionKey& key) {
    if (key.distance < threshold.distance) return;
    if (key.distance == threshold.distance && key.rows_after < threshold.rows_after) return;
    const auto at = static_cast<std::int64_t>(atomicAdd(&state->found, 1ull));
    // More candidates are found only if a cancelled step has left out parts.
    if (at >= capacity) return;
    candidates[at] = {row, __longlong_as_double(static_cast<long long>(key.distance)), label, 0};
  });
}

unsigned blocks_for(lloyd::RowRange rows) {
  return static_cast<unsigned>(std::min((rows.size() + kThreads - 1) / kThreads, kBlocks));
}

}  // namespace

FarthestSelection::FarthestSelection(std::int64_t wanted)
    : wanted_(wanted), candidates_(wanted + kSpareCandidates), histogram_(kBins) {
  std::size_t bytes = 0;
  sort(nullptr, bytes, nullptr);
  sorting_memory_.resize(static_cast<std::int64_t>(bytes));
}

// Sorts all candidates. Without `memory`, only `bytes` is set.
void FarthestSelection::sort(char* memory, std::size_t& bytes, cudaStream_t stream) const {
  check(cub::DeviceMergeSort::SortKeys(memory, bytes, candidates_.data(), candidates_.size(),
                                       Farther{}, stream),
        "sorting the farthest samples");
}

template <class T>
void FarthestSelection::enqueue(Step<T>& step, const AssignedRows& assigned, cudaStream_t stream) {
  state_.fill_bytes(0, stream);
  histogram_.fill_bytes(0, stream);
  candidates_.fill_bytes(0, stream);  // entries at distance 0 are sorted last
  const auto enqueue_rounds = [&](bool is_row_digit, int bits) {
    for (int end = bits; end > 0; end -= kDigitBits) {
      const Digit digit{is_row_digit, std::max(end - kDigitBits, 0), end};
      step.for_each_part(assigned.rows, &state_.data()->settled,
                         [&](lloyd::RowRange rows, const Samples<T>& samples) {
                           const Part<T> part{assigned, rows, samples};
                           histogram_kernel<T><<<blocks_for(rows), kThreads, 0, stream>>>(
                               part, digit, state_.data(), histogram_.data());
                           check_launch("histogram_kernel");
                         });
      pick_kernel<<<1, kPickThreads, 0, stream>>>(digit, wanted_, candidates_.size(), state_.data(),
                                                  histogram_.data());
      check_launch("pick_kernel");
    }
  };
  enqueue_rounds(false, kDistanceBits);
  const auto last = static_cast<unsigned long long>(assigned.rows.size() - 1);
  enqueue_rounds(true, static_cast<int>(std::bit_width(last)));
  step.for_each_part(assigned.rows, nullptr, [&](lloyd::RowRange rows, const Samples<T>& samples) {
    const Part<T> part{assigned, rows, samples};
    gather_kernel<T><<<blocks_for(rows), kThreads, 0, stream>>>(
        part, state_.data(), candidates_.data(), candidates_.size());
    check_launch("gather_kernel");
  });
  auto bytes = static_cast<std::size_t>(sorting_memory_.size());
  sort(sorting_memory_.data(), bytes, stream);
}

std::vector<lloyd::FarSample> FarthestSelection::fetch(cudaStream_t stream) const {
  std::vector<lloyd::FarSample> farthest(static_cast<std::size_t>(wanted_));
  SelectionState state;
  candidates_.download(farthest.data(), wanted_, stream);
  state_.download(&state, 1, stream);
  check(cudaStreamSynchronize(stream), "copying the farthest samples");
  farthest.resize(std::min(farthest.size(), static_cast<std::size_t>(state.found)));
  return farthest;
}

template void FarthestSelection::enqueue(Step<float>&, const AssignedRows&, cudaStream_t);
template void FarthestSelection::enqueue(Step<double>&, const AssignedRows&, cudaStream_t);

}  // namespace lloyd_cuda
