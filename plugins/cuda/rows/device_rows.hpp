// Samples of the caller in device memory: checks, and the order of work on the caller's stream.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "cuda/device/stream.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda {

/// True if the samples of a view are in device memory.
inline bool is_on_device(const lloyd::DatasetView& dataset) {
  return dataset.memory_space == lloyd::MemorySpace::device;
}

/// The stream that wrote the samples of a view in device memory.
inline cudaStream_t stream_of(const lloyd::DatasetView& dataset) {
  return static_cast<cudaStream_t>(dataset.stream);
}

/// Of the memory of the device, `total_bytes`, what is left beside the caller's samples; at least 1
/// byte, or 0 if `total_bytes` is (unknown).
inline std::int64_t bytes_beside_rows(const lloyd::DatasetView& dataset, std::int64_t total_bytes) {
  if (!is_on_device(dataset) || total_bytes == 0) return total_bytes;
  const std::int64_t rows = dataset.samples * dataset.stride * lloyd::size_of(dataset.dtype);
  return std::max<std::int64_t>(total_bytes - rows, 1);
}

/// Throws StatusError `invalid_argument` unless the samples of a view that says so are in memory of
/// its device (managed memory counts), and `unsupported` unless that is `device`. No effect for
/// samples in host memory.
void check_device_rows(const lloyd::DatasetView& dataset, int device);

/// Makes later work of `waiting` wait for the work that `stream` has so far. Both streams, and the
/// current device, are of one device. Throws StatusError.
void enqueue_wait(cudaStream_t waiting, cudaStream_t stream);

/// Makes later work of `stream` wait for the stream that wrote the samples, if they are in device
/// memory. Returns `stream`.
const Stream& wait_for_rows(const Stream& stream, const lloyd::DatasetView& dataset);

/// Makes the stream that wrote the samples wait for the work that `stream` has so far, if they are
/// in device memory: what the caller enqueues later may overwrite or free them.
void signal_rows_read(const Stream& stream, const lloyd::DatasetView& dataset);

/// A view of samples in device memory for kernels, in place.
template <class T>
Samples<T> samples_in_place(const lloyd::DatasetView& dataset) {
  return {static_cast<const T*>(dataset.data), 0, dataset.stride, 1, dataset.features};
}

}  // namespace lloyd_cuda
