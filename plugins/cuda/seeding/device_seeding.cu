#include "cuda/seeding/device_seeding.hpp"

#include <algorithm>
#include <bit>
#include <cub/device/device_scan.cuh>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "cuda/device/check.hpp"
#include "cuda/passes/distance.cuh"
#include "cuda/rows/device_rows.hpp"
#include "cuda/rows/row_copies.hpp"

namespace lloyd_cuda {
namespace {

using lloyd::Observer;
using lloyd::RowRange;
using lloyd::StatusCode;
using lloyd::WeightScale;

constexpr int kThreads = 256;
constexpr std::int64_t kBlocks = 2048;
// Candidates that a thread compares with a sample that it has read once.
constexpr int kCandidates = 8;
// Samples whose weights are summed together.
constexpr std::int64_t kWeightBlock = 1024;
// Value differences computed between two polls (tens of milliseconds).
constexpr double kWorkBetweenPolls = 0x1p36;

__device__ std::int64_t first_row(RowRange rows) {
  return rows.begin + static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}
__device__ std::int64_t row_step() {
  return static_cast<std::int64_t>(gridDim.x) * kThreads;
}

// WeightScale::weight().
__device__ std::int64_t weight_of(double squared_distance, const WeightScale& scale) {
  return __double2ll_rz(__dmul_rn(__dmul_rn(squared_distance, scale.first), scale.second));
}

__global__ void fill_kernel(double* values, std::int64_t count, double value) {
  for (std::int64_t i = first_row({0, count}); i < count; i += row_step()) values[i] = value;
}

template <class T>
__global__ void fold_kernel(RowRange rows, Samples<T> samples, const double* centroids,
                            std::int64_t count, std::int64_t first_index, double* distances,
                            std::int32_t* nearest) {
  for (std::int64_t i = first_row(rows); i < rows.end; i += row_step()) {
    double least = distances[i];
    std::int64_t index = -1;
    for (std::int64_t c = 0; c < count; ++c) {
      const double distance = exact_distance(samples, i, centroids + c * samples.features);
      if (distance < least) {
        least = distance;
        index = first_index + c;
      }
    }
    if (index < 0) continue;
    distances[i] = least;
    if (nearest != nullptr) nearest[i] = static_cast<std::int32_t>(index);
  }
}

// Float64 values >= 0 are ordered as their bits are.
__global__ void largest_kernel(const double* values, std::int64_t count,
                               unsigned long long* largest) {
  double found = 0;
  for (std::int64_t i = first_row({0, count}); i < count; i += row_step()) {
    found = values[i] > found ? values[i] : found;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const double other = __shfl_down_sync(0xffffffffu, found, offset);
    found = other > found ? other : found;
  }
  if (threadIdx.x % 32 == 0) {
    atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(found)));
  }
}

// blockIdx.y is the group of candidates.
template <class T>
__global__ void gains_kernel(RowRange rows, Samples<T> samples, const double* candidates,
                             std::int64_t count, const double* distances, WeightScale scale,
                             unsigned long long* gains) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * kCandidates;
  const std::int64_t d = samples.features;
  unsigned long long own[kCandidates] = {};
  for (std::int64_t i = first_row(rows); i < rows.end; i += row_step()) {
    const double least = distances[i];
    const T* const x = samples.row(i);
    double distance[kCandidates] = {};
    for (std::int64_t j = 0; j < d; ++j) {
      const double value = static_cast<double>(x[j * samples.feature_stride]);
#pragma unroll
      for (int c = 0; c < kCandidates; ++c) {
        // If fewer are left, the last one is computed repeatedly.
        const std::int64_t candidate = first + c < count ? first + c : count - 1;
        distance[c] = add_square(distance[c], subtract(value, candidates[candidate * d + j]));
      }
    }
#pragma unroll
    for (int c = 0; c < kCandidates; ++c) {
      if (!(distance[c] < least)) continue;
      own[c] +=
          static_cast<unsigned long long>(weight_of(least, scale) - weight_of(distance[c], scale));
    }
  }
#pragma unroll
  for (int c = 0; c < kCandidates; ++c) {
    for (int offset = 16; offset > 0; offset /= 2) {
      own[c] += __shfl_down_sync(0xffffffffu, own[c], offset);
    }
    if (threadIdx.x % 32 == 0 && own[c] != 0 && first + c < count) {
      atomicAdd(gains + first + c, own[c]);
    }
  }
}

// Sums the weights of each block of samples.
__global__ void weights_kernel(const double* distances, std::int64_t samples, WeightScale scale,
                               std::int64_t* block_weights) {
  __shared__ unsigned long long sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kWeightBlock;
  const std::int64_t end = begin + kWeightBlock < samples ? begin + kWeightBlock : samples;
  unsigned long long own = 0;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
    own += static_cast<unsigned long long>(weight_of(distances[i], scale));
  }
  for (int offset = 16; offset > 0; offset /= 2) own += __shfl_down_sync(0xffffffffu, own, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) block_weights[blockIdx.x] = static_cast<std::int64_t>(sum);
}

// A warp finds the row of one position. `cumulative`: the weights of each block and those before
// it.
__global__ void find_kernel(const std::int64_t* positions, const std::int64_t* cumulative,
                            std::int64_t blocks, const double* distances, std::int64_t samples,
                            WeightScale scale, std::int64_t* rows) {
  const std::int64_t position = positions[blockIdx.x];
  std::int64_t block = 0;  // the first whose cumulative weight exceeds the position
  for (std::int64_t end = blocks - 1; block < end;) {
    const std::int64_t middle = block + (end - block) / 2;
    if (cumulative[middle] > position) {
      end = middle;
    } else {
      block = middle + 1;
    }
  }
  std::int64_t before = block == 0 ? 0 : cumulative[block - 1];
  const int lane = static_cast<int>(threadIdx.x);
  const std::int64_t begin = block * kWeightBlock;
  for (std::int64_t row = begin; row < begin + kWeightBlock; row += 32) {
    const std::int64_t i = row + lane;
    std::int64_t sum = i < samples ? weight_of(distances[i], scale) : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
      const std::int64_t lower = __shfl_up_sync(0xffffffffu, sum, offset);
      if (lane >= offset) sum += lower;
    }
    const unsigned exceeding = __ballot_sync(0xffffffffu, before + sum > position);
    if (exceeding != 0) {
      if (lane == 0) rows[blockIdx.x] = row + __ffs(static_cast<int>(exceeding)) - 1;
      return;
    }
    before += __shfl_sync(0xffffffffu, sum, 31);
  }
}

unsigned blocks_for(std::int64_t rows) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((rows + kThreads - 1) / kThreads, 1, kBlocks));
}

std::int64_t weight_blocks(std::int64_t samples) {
  return (samples + kWeightBlock - 1) / kWeightBlock;
}

template <class Value>
void reserve(DeviceBuffer<Value>& buffer, std::int64_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

bool is_cancelled(const Observer* observer) {
  return observer != nullptr && observer->stop_requested();
}

void throw_if_cancelled(const Observer* observer) {
  if (is_cancelled(observer)) lloyd::throw_cancelled();
}

}  // namespace

template <class T>
void DeviceSeeding<T>::nearest(const lloyd::NearestRequest& request, Observer* observer) {
  throw_if_cancelled(observer);
  state_ = State::none;
  const std::int64_t n = dataset_.samples;
  distances_.resize(n);
  distances_.upload(request.squared_distances, n, stream_);
  std::int32_t* indices = nullptr;
  if (request.nearest != nullptr) {
    nearest_.resize(n);
    nearest_.upload(request.nearest, n, stream_);
    indices = nearest_.data();
  }
  upload_centroids(request.centroids, request.count);
  fold(request.count, request.first_index, indices, observer);
  wait(observer);
  distances_.download(request.squared_distances, n, stream_);
  if (indices != nullptr) nearest_.download(request.nearest, n, stream_);
  stream_.synchronize();
}

template <class T>
void DeviceSeeding<T>::gains(const lloyd::GainsRequest& request, Observer* observer) {
  throw_if_cancelled(observer);
  state_ = State::none;
  distances_.resize(dataset_.samples);
  distances_.upload(request.squared_distances, dataset_.samples, stream_);
  upload_centroids(request.candidates, request.count);
  scale_ = request.scale;
  rate(request.count, observer, request.gains);
}

template <class T>
void DeviceSeeding<T>::begin() {
  const std::int64_t n = dataset_.samples;
  distances_.resize(n);
  fill_kernel<<<blocks_for(n), kThreads, 0, stream_>>>(distances_.data(), n,
                                                       std::numeric_limits<double>::infinity());
  check_launch("fill_kernel");
  largest_.resize(1);
  block_weights_.resize(weight_blocks(n));
  std::size_t bytes = 0;
  check(cub::DeviceScan::InclusiveSum(nullptr, bytes, block_weights_.data(), block_weights_.data(),
                                      block_weights_.size(), stream_),
        "laying out the sum of weights");
  scan_memory_.resize(static_cast<std::int64_t>(bytes));
  state_ = State::begun;
}

template <class T>
double DeviceSeeding<T>::add(std::int64_t row, Observer* observer) {
  require(state_ != State::none, "add()");
  gather_centroids(&row, 1);
  fold(1, 0, nullptr, observer);
  largest_.fill_bytes(0, stream_);
  largest_kernel<<<blocks_for(dataset_.samples), kThreads, 0, stream_>>>(
      distances_.data(), dataset_.samples, largest_.data());
  check_launch("largest_kernel");
  const std::int64_t largest = fetch(largest_.data(), 1, observer)[0];
  state_ = State::has_centroids;
  return std::bit_cast<double>(largest);
}

template <class T>
std::int64_t DeviceSeeding<T>::weigh(const WeightScale& scale, Observer* observer) {
  require(state_ == State::has_centroids || state_ == State::weighed, "weigh()");
  throw_if_cancelled(observer);
  scale_ = scale;
  const std::int64_t blocks = block_weights_.size();
  weights_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream_>>>(
      distances_.data(), dataset_.samples, scale, block_weights_.data());
  check_launch("weights_kernel");
  auto bytes = static_cast<std::size_t>(scan_memory_.size());
  check(cub::DeviceScan::InclusiveSum(scan_memory_.data(), bytes, block_weights_.data(),
                                      block_weights_.data(), blocks, stream_),
        "summing the weights");
  const std::int64_t total = fetch(block_weights_.data() + blocks - 1, 1, observer)[0];
  state_ = State::weighed;
  return total;
}

template <class T>
void DeviceSeeding<T>::find(const std::int64_t* positions, std::int64_t count, std::int64_t* rows) {
  require(state_ == State::weighed, "find()");
  if (count == 0) return;
  reserve(positions_, count);
  reserve(rows_, count);
  positions_.upload(positions, count, stream_);
  find_kernel<<<static_cast<unsigned>(count), 32, 0, stream_>>>(
      positions_.data(), block_weights_.data(), block_weights_.size(), distances_.data(),
      dataset_.samples, scale_, rows_.data());
  check_launch("find_kernel");
  std::copy_n(fetch(rows_.data(), count, nullptr), count, rows);
}

template <class T>
void DeviceSeeding<T>::rate(const std::int64_t* rows, std::int64_t count, Observer* observer,
                            std::int64_t* gains) {
  require(state_ == State::weighed, "rate()");
  gather_centroids(rows, count);
  rate(count, observer, gains);
}

template <class T>
void DeviceSeeding<T>::end() {
  state_ = State::none;
  distances_.resize(0);
  nearest_.resize(0);
  centroids_.resize(0);
  rows_.resize(0);
  gains_.resize(0);
  block_weights_.resize(0);
  positions_.resize(0);
  scan_memory_.resize(0);
}

template <class T>
double DeviceSeeding<T>::device_bytes(double samples) {
  const double blocks = samples / kWeightBlock + 1;
  return samples * (sizeof(double) + sizeof(std::int32_t)) + 2 * blocks * sizeof(std::int64_t) +
         (1 << 16);
}

template <class T>
void DeviceSeeding<T>::require(bool in_order, const char* call) const {
  if (in_order) return;
  throw lloyd::StatusError(StatusCode::invalid_argument,
                           std::string(call) + " was called out of order");
}

// Copies these samples to centroids_: from host memory if they were there, since the device may not
// hold them.
template <class T>
void DeviceSeeding<T>::gather_centroids(const std::int64_t* rows, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (rows[i] >= 0 && rows[i] < dataset_.samples) continue;
    throw lloyd::StatusError(
        StatusCode::invalid_argument,
        "there is no row " + std::to_string(rows[i]) + " of " + std::to_string(dataset_.samples));
  }
  if (is_on_device(dataset_)) {
    reserve(rows_, count);
    reserve(centroids_, count * dataset_.features);
    rows_.upload(rows, count, stream_);
    enqueue_gather(static_cast<const T*>(dataset_.data), dataset_.stride, dataset_.features,
                   rows_.data(), count, centroids_.data(), stream_);
    return;
  }
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const row = static_cast<const T*>(dataset_.data) + rows[i] * dataset_.stride;
    values.insert(values.end(), row, row + dataset_.features);
  }
  upload_centroids(values.data(), count);
}

template <class T>
void DeviceSeeding<T>::upload_centroids(const double* centroids, std::int64_t count) {
  reserve(centroids_, count * dataset_.features);
  centroids_.upload(centroids, count * dataset_.features, stream_);
}

template <class T>
void DeviceSeeding<T>::fold(std::int64_t count, std::int64_t first_index, std::int32_t* nearest,
                            Observer* observer) {
  for_each_piece(count, observer, [&](RowRange rows, const Samples<T>& samples) {
    fold_kernel<T><<<blocks_for(rows.size()), kThreads, 0, stream_>>>(
        rows, samples, centroids_.data(), count, first_index, distances_.data(), nearest);
    check_launch("fold_kernel");
  });
}

template <class T>
void DeviceSeeding<T>::rate(std::int64_t count, Observer* observer, std::int64_t* gains) {
  if (count == 0) return;
  reserve(gains_, count);
  gains_.fill_bytes(0, stream_);
  for_each_piece(count, observer, [&](RowRange rows, const Samples<T>& samples) {
    const dim3 grid(blocks_for(rows.size()),
                    static_cast<unsigned>((count + kCandidates - 1) / kCandidates));
    gains_kernel<T><<<grid, kThreads, 0, stream_>>>(rows, samples, centroids_.data(), count,
                                                    distances_.data(), scale_, gains_.data());
    check_launch("gains_kernel");
  });
  std::copy_n(fetch(gains_.data(), count, observer), count, gains);
}

// Calls body(rows, samples) for pieces of all rows, each of limited work, and polls the observer
// before each. Within a part, a piece is enqueued when the one before has finished, since kernels
// that are enqueued cannot be cancelled.
template <class T>
template <class Body>
void DeviceSeeding<T>::for_each_piece(std::int64_t centroids, Observer* observer,
                                      const Body& body) {
  const double work = static_cast<double>(centroids) * static_cast<double>(dataset_.features);
  const std::int64_t rows =
      std::max<std::int64_t>(static_cast<std::int64_t>(kWorkBetweenPolls / work), kThreads);
  step_.for_each_part({0, dataset_.samples}, nullptr,
                      [&](RowRange part, const Samples<T>& samples) {
                        throw_if_cancelled(observer);
                        for (std::int64_t begin = part.begin; begin < part.end; begin += rows) {
                          if (begin > part.begin) wait(observer);
                          body({begin, std::min(begin + rows, part.end)}, samples);
                        }
                      });
}

// Copies `count` words from device memory, and waits for the stream. The result is valid until the
// next call. It is in pinned memory, because copies to pageable memory block without polling.
template <class T>
const std::int64_t* DeviceSeeding<T>::fetch(const void* from, std::int64_t count,
                                            Observer* observer) {
  if (fetched_.size() < count) fetched_ = PinnedBuffer<std::int64_t>(count);
  check(
      cudaMemcpyAsync(fetched_.data(), from, static_cast<std::size_t>(count) * sizeof(std::int64_t),
                      cudaMemcpyDeviceToHost, stream_),
      "copying results of a seeding");
  wait(observer);
  return fetched_.data();
}

// Waits for the stream, and polls the observer at least once. Throws if it requests to stop.
template <class T>
void DeviceSeeding<T>::wait(Observer* observer) const {
  bool cancelled = false;
  for (bool finished = false; !finished; std::this_thread::yield()) {
    finished = stream_.finished();
    cancelled = cancelled || is_cancelled(observer);
  }
  if (cancelled) lloyd::throw_cancelled();
}

template class DeviceSeeding<float>;
template class DeviceSeeding<double>;

}  // namespace lloyd_cuda
