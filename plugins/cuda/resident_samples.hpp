// A data set in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/dataset_view.hpp>

#include "cuda/buffer.hpp"
#include "cuda/samples.hpp"

namespace lloyd_cuda {

/// Enqueues n x d values that lie sample by sample into feature by feature: `from` and `to` are
/// device memory, `to` begins at the first of the rows and `to_rows` values lie between features.
template <class T>
void enqueue_transposition(const T* from, std::int64_t rows, std::int64_t features, T* to,
                           std::int64_t to_rows, cudaStream_t stream);

/// All samples of a data set, packed, in either layout.
template <class T>
class ResidentSamples {
 public:
  /// Copies the samples of a view in host memory; strides are closed up, and features are made
  /// contiguous on the device for Layout::soa. Waits for the stream. Throws StatusError.
  ResidentSamples(const lloyd::DatasetView& dataset, Layout layout, cudaStream_t stream);

  /// The samples as kernels see them.
  Samples<T> get() const { return samples_; }

  /// Device memory that is held for n samples of d features.
  static std::int64_t device_bytes(std::int64_t samples, std::int64_t features) {
    return samples * features * static_cast<std::int64_t>(sizeof(T));
  }

 private:
  DeviceBuffer<T> values_;
  Samples<T> samples_;
};

}  // namespace lloyd_cuda
