// A data set in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda {

/// Enqueues a transposition of rows x d values from row-major to feature-major order. `from` and
/// `to` are device memory; `to` begins at the first of the rows, and its features are `to_rows`
/// values apart.
template <class T>
void enqueue_transposition(const T* from, std::int64_t rows, std::int64_t features, T* to,
                           std::int64_t to_rows, cudaStream_t stream);

/// All samples of a data set, densely packed, in either layout.
template <class T>
class ResidentSamples {
 public:
  /// Copies the samples of a view in host memory. Gaps between rows are removed; for Layout::soa
  /// the device transposes. Waits for the stream. Throws StatusError.
  ResidentSamples(const lloyd::DatasetView& dataset, Layout layout, cudaStream_t stream);

  /// The samples to pass to kernels.
  Samples<T> get() const { return samples_; }

  /// Device memory for n samples of d features, bytes.
  static std::int64_t device_bytes(std::int64_t samples, std::int64_t features) {
    return samples * features * static_cast<std::int64_t>(sizeof(T));
  }

 private:
  DeviceBuffer<T> values_;
  Samples<T> samples_;
};

}  // namespace lloyd_cuda
