// Measures an assignment: exact distances to the assigned centroids, their sum (inertia), and
// counts.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/exact_sum.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda {

/// The sum whose chunks a kernel added up.
lloyd::ExactSum exact_sum(const unsigned long long* chunks);

/// An exact sum in device memory: the chunks of lloyd::ExactSum. All values are >= 0.
class ResidentExactSum {
 public:
  ResidentExactSum() : chunks_(lloyd::ExactSum::kChunks) {}

  void clear(cudaStream_t stream) const { chunks_.fill_bytes(0, stream); }
  /// Waits for the stream and returns the sum.
  lloyd::ExactSum fetch(cudaStream_t stream) const;

  /// Enqueues the addition of the chunks, after their carries, to kChunks integers in device
  /// memory: 0 to 2^32 - 1 to each. The last one, of weight 2^1070, stays below 2^32, since at most
  /// 2^63 values below 2^1024 add up to less than 2^1087.
  void enqueue_add_to(std::int64_t* chunks, cudaStream_t stream) const;

  unsigned long long* data() const { return chunks_.data(); }

 private:
  DeviceBuffer<unsigned long long> chunks_;
};

/// Arguments of a measurement: device memory; outputs that are not wanted are null.
template <class T>
struct Measurement {
  lloyd::RowRange rows;                   ///< of the data set
  Samples<T> samples;                     ///< the samples of these rows
  const double* centroids = nullptr;      ///< k x d
  std::int64_t clusters = 0;              ///< k
  const std::int32_t* labels = nullptr;   ///< n
  unsigned long long* counts = nullptr;   ///< k, added to
  unsigned long long* inertia = nullptr;  ///< chunks of a ResidentExactSum, added to
  double* squared_distances = nullptr;    ///< rows.size(), see distance.hpp
  const std::int32_t* halt = nullptr;     ///< kernels return at once unless it is null or kHaltNone
};

/// Enqueues a measurement.
template <class T>
void enqueue_measurement(const Measurement<T>& measurement, cudaStream_t stream);

}  // namespace lloyd_cuda
