#include "cuda/passes/measure_pass.hpp"

#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/passes/distance.cuh"
#include "cuda/passes/finish_pass.hpp"
#include "cuda/passes/halt_flag.cuh"

namespace lloyd_cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 2048;
constexpr int kChunks = lloyd::ExactSum::kChunks;
// Maximum number of clusters whose counts a block keeps in shared memory: 16 KiB.
constexpr std::int64_t kMaxSharedCounts = 4096;

// lloyd::ExactSum::add() for values >= 0. Each thread caches the three chunks of its last value in
// registers, since consecutive values usually have the same exponent range.
struct ThreadSum {
  int first = 0;
  unsigned long long chunk_sums[3] = {};

  __device__ void add(double value, unsigned long long* chunks) {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
    const int exponent = static_cast<int>(bits >> 52);
    unsigned long long mantissa = bits & ((1ull << 52) - 1);
    int position = 0;
    if (exponent > 0) {
      mantissa |= 1ull << 52;
      position = exponent - 1;
    }
    const int shift = position & 31;
    const unsigned long long low = mantissa << shift;
    const unsigned long long high = shift == 0 ? 0 : mantissa >> (64 - shift);
    if (position >> 5 != first) {
      flush(chunks);
      first = position >> 5;
    }
    chunk_sums[0] += low & 0xffffffffu;
    chunk_sums[1] += low >> 32;
    chunk_sums[2] += high;
  }

  __device__ void flush(unsigned long long* chunks) {
    for (int i = 0; i < 3; ++i) {
      if (chunk_sums[i] != 0) atomicAdd(chunks + first + i, chunk_sums[i]);
      chunk_sums[i] = 0;
    }
  }
};

// Propagates the carries of a non-negative sum and calls body(i, chunk); all chunks but the last
// are below 2^32.
template <class Body>
__device__ void for_each_normalized_chunk(const unsigned long long* chunks, const Body& body) {
  unsigned long long carry = 0;
  for (int i = 0; i < kChunks; ++i) {
    const unsigned long long value = chunks[i] + carry;
    carry = value >> 32;
    body(i, i + 1 < kChunks ? value & 0xffffffffu : value);
  }
}

// One block of kChunks threads.
__global__ void add_chunks_kernel(const unsigned long long* from, std::int64_t* to) {
  __shared__ unsigned long long chunks[kChunks];
  __shared__ unsigned long long carried[kChunks];
  chunks[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    for_each_normalized_chunk(chunks, [&](int i, unsigned long long chunk) { carried[i] = chunk; });
  }
  __syncthreads();
  to[threadIdx.x] += static_cast<std::int64_t>(carried[threadIdx.x]);
}

template <class T>
__global__ void measure_kernel(Measurement<T> m) {
  __shared__ unsigned long long chunks[kChunks];
  __shared__ unsigned int shared_counts[kMaxSharedCounts];
  if (m.halt != nullptr && block_halted(m.halt)) return;
  const bool counts_in_shared = m.counts != nullptr && m.clusters <= kMaxSharedCounts;
  for (int i = threadIdx.x; i < kChunks; i += kThreads) chunks[i] = 0;
  if (counts_in_shared) {
    for (int c = threadIdx.x; c < m.clusters; c += kThreads) shared_counts[c] = 0;
  }
  __syncthreads();

  ThreadSum sum;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i =
           m.rows.begin + static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       i < m.rows.end; i += step) {
    const std::int32_t label = m.labels[i];
    if (counts_in_shared) {
      atomicAdd(shared_counts + label, 1u);
    } else if (m.counts != nullptr) {
      atomicAdd(m.counts + label, 1ull);
    }
    if (m.inertia == nullptr && m.squared_distances == nullptr) continue;
    const double distance = exact_distance(m.samples, i, m.centroids + label * m.samples.features);
    if (m.squared_distances != nullptr) m.squared_distances[i - m.rows.begin] = distance;
    sum.add(distance, chunks);
  }
  sum.flush(chunks);
  __syncthreads();

  if (m.inertia != nullptr && threadIdx.x == 0) {
    // Carries within a block keep chunks below 2^32, so that the sums of many blocks cannot
    // overflow.
    for_each_normalized_chunk(chunks, [&](int i, unsigned long long rest) {
      if (rest != 0) atomicAdd(m.inertia + i, rest);
    });
  }
  if (counts_in_shared) {
    for (int c = threadIdx.x; c < m.clusters; c += kThreads) {
      if (shared_counts[c] != 0) {
        atomicAdd(m.counts + c, static_cast<unsigned long long>(shared_counts[c]));
      }
    }
  }
}

}  // namespace

lloyd::ExactSum exact_sum(const unsigned long long* chunks) {
  lloyd::ExactSum sum;
  for (int i = 0; i < kChunks; ++i) sum.chunks[i] = static_cast<std::int64_t>(chunks[i]);
  // Makes the next addition carry first: the number of additions by all blocks is not known.
  sum.adds_since_carry = lloyd::ExactSum::kAddsBeforeCarry - 1;
  return sum;
}

lloyd::ExactSum ResidentExactSum::fetch(cudaStream_t stream) const {
  unsigned long long chunks[kChunks];
  chunks_.download(chunks, kChunks, stream);
  check(cudaStreamSynchronize(stream), "summing the inertia");
  return exact_sum(chunks);
}

void ResidentExactSum::enqueue_add_to(std::int64_t* chunks, cudaStream_t stream) const {
  add_chunks_kernel<<<1, kChunks, 0, stream>>>(chunks_.data(), chunks);
  check_launch("add_chunks_kernel");
}

template <class T>
void enqueue_measurement(const Measurement<T>& measurement, cudaStream_t stream) {
  const std::int64_t blocks = (measurement.rows.size() + kThreads - 1) / kThreads;
  if (blocks == 0) return;
  measure_kernel<T>
      <<<static_cast<int>(std::min<std::int64_t>(blocks, kBlocks)), kThreads, 0, stream>>>(
          measurement);
  check_launch("measure_kernel");
}

template void enqueue_measurement(const Measurement<float>&, cudaStream_t);
template void enqueue_measurement(const Measurement<double>&, cudaStream_t);

}  // namespace lloyd_cuda
