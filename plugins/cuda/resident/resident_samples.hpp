// A data set in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda {

/// Enqueues a transposition of rows x d values from row-major to feature-major order. `from` and
/// `to` are device memory; the rows of `from` are `stride` values apart; `to` begins at the first
/// of the rows, and its features are `to_rows` values apart.
template <class T>
void enqueue_transposition(const T* from, std::int64_t stride, std::int64_t rows,
                           std::int64_t features, T* to, std::int64_t to_rows, cudaStream_t stream);

/// True if kernels can read the samples of a view in place: they are in device memory, `layout` is
/// row-major (or there is one feature), and every row begins at a multiple of `row_alignment`
/// bytes.
inline bool can_be_read_in_place(const lloyd::DatasetView& dataset, Layout layout,
                                 std::int64_t row_alignment) {
  if (dataset.memory_space != lloyd::MemorySpace::device) return false;
  if (layout != Layout::aos && dataset.features != 1) return false;
  const auto alignment = static_cast<std::uintptr_t>(row_alignment);
  const std::int64_t row_bytes = dataset.stride * lloyd::size_of(dataset.dtype);
  return reinterpret_cast<std::uintptr_t>(dataset.data) % alignment == 0 &&
         (dataset.samples == 1 || row_bytes % row_alignment == 0);
}

/// All samples of a data set, in either layout.
template <class T>
class ResidentSamples {
 public:
  /// Reads the samples in place if can_be_read_in_place() says so. Otherwise copies them: gaps
  /// between rows are removed, and for Layout::soa the device transposes. Samples in device memory
  /// are copied within it. Waits for the stream. Throws StatusError.
  ResidentSamples(const lloyd::DatasetView& dataset, Layout layout, cudaStream_t stream,
                  std::int64_t row_alignment = sizeof(T));

  /// The samples to pass to kernels.
  Samples<T> get() const { return samples_; }

  /// Device memory for n samples of d features, bytes.
  static std::int64_t device_bytes(std::int64_t samples, std::int64_t features) {
    return samples * features * static_cast<std::int64_t>(sizeof(T));
  }

 private:
  void copy_on_device(const lloyd::DatasetView& dataset, Layout layout, cudaStream_t stream);
  void copy_from_host(const lloyd::DatasetView& dataset, Layout layout, cudaStream_t stream);

  DeviceBuffer<T> values_;  // empty if the samples are read in place
  Samples<T> samples_;
};

}  // namespace lloyd_cuda
