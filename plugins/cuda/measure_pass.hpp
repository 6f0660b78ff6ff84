// What is measured of an assignment: exact distances to the own centroid, their sum, and counts.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/dataset_view.hpp>
#include <lloyd/plugin/exact_sum.hpp>

#include "cuda/buffer.hpp"
#include "cuda/samples.hpp"

namespace lloyd_cuda {

/// An exact sum in device memory: lloyd::ExactSum's chunks, all values being >= 0.
class ResidentExactSum {
 public:
  ResidentExactSum() : chunks_(lloyd::ExactSum::kChunks) {}

  void clear(cudaStream_t stream) const { chunks_.fill_bytes(0, stream); }
  /// Waits for the stream and fetches the sum.
  lloyd::ExactSum fetch(cudaStream_t stream) const;

  unsigned long long* data() const { return chunks_.data(); }

 private:
  DeviceBuffer<unsigned long long> chunks_;
};

/// What a measurement reads and writes; device memory, null outputs are not wanted.
template <class T>
struct Measurement {
  lloyd::RowRange rows;                   ///< of the data set
  Samples<T> samples;                     ///< hold these rows
  const double* centroids = nullptr;      ///< k x d
  std::int64_t clusters = 0;              ///< k
  const std::int32_t* labels = nullptr;   ///< n
  unsigned long long* counts = nullptr;   ///< k, added to
  unsigned long long* inertia = nullptr;  ///< of a ResidentExactSum, added to
  double* squared_distances = nullptr;    ///< rows.size(), by the definition
  const std::int32_t* halt = nullptr;     ///< nothing is done once it says kHaltCancelled
};

/// Enqueues a measurement.
template <class T>
void enqueue_measurement(const Measurement<T>& measurement, cudaStream_t stream);

}  // namespace lloyd_cuda
