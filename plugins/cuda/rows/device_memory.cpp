#include "cuda/rows/device_memory.hpp"

#include <cuda_runtime_api.h>

#include <string>

#include <lloyd/plugin/sdk/guard.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/device/check.hpp"
#include "cuda/device/device.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/rows/device_rows.hpp"
#include "cuda/rows/row_copies.hpp"
#include "cuda/rows/statistics_pass.hpp"

namespace lloyd_cuda {

using lloyd::DatasetView;
using lloyd::guarded;
using lloyd::Status;

namespace {

void copy_bytes(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind,
                void* caller_stream) {
  if (bytes == 0) return;
  const auto stream = static_cast<cudaStream_t>(caller_stream);
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, stream),
        "copying an array");
  check(cudaStreamSynchronize(stream), "copying an array");
}

void check_view(const DatasetView& rows) {
  if (!is_on_device(rows)) {
    throw lloyd::StatusError(lloyd::StatusCode::invalid_argument,
                             "the samples are in host memory; they must be in device memory");
  }
  check_device_rows(rows, rows.device);
}

void check_row_numbers(const DatasetView& rows, const std::int64_t* numbers, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (numbers[i] >= 0 && numbers[i] < rows.samples) continue;
    throw lloyd::StatusError(
        lloyd::StatusCode::invalid_argument,
        "there is no row " + std::to_string(numbers[i]) + " of " + std::to_string(rows.samples));
  }
}

template <class T>
void copy_chosen(const DatasetView& rows, const std::int64_t* numbers, std::int64_t count,
                 void* values) {
  const Stream stream;
  wait_for_rows(stream, rows);
  DeviceBuffer<std::int64_t> chosen(count);
  DeviceBuffer<T> gathered(count * rows.features);
  chosen.upload(numbers, count, stream);
  enqueue_gather(static_cast<const T*>(rows.data), rows.stride, rows.features, chosen.data(), count,
                 gathered.data(), stream);
  gathered.download(static_cast<T*>(values), count * rows.features, stream);
  signal_rows_read(stream, rows);
  stream.synchronize();
}

template <class T>
void describe_view(const DatasetView& rows, lloyd::RowsDescription& description) {
  const Stream stream;
  wait_for_rows(stream, rows);
  describe_samples(samples_in_place<T>(rows), rows.samples, description, stream);
  signal_rows_read(stream, rows);
}

}  // namespace

Status CudaDeviceMemory::allocate(std::int32_t device, std::int64_t bytes, void** memory) noexcept {
  return guarded([&] {
    const DeviceScope scope(device);
    *memory = nullptr;
    const auto size = static_cast<std::size_t>(bytes);
    const cudaError_t error = cudaMalloc(memory, size);
    if (error == cudaErrorMemoryAllocation) throw_out_of_device_memory(size);
    check(error, "allocating device memory");
  });
}

Status CudaDeviceMemory::deallocate(std::int32_t device, void* memory) noexcept {
  return guarded([&] {
    const DeviceScope scope(device);
    check(cudaFree(memory), "freeing device memory");
  });
}

Status CudaDeviceMemory::upload(std::int32_t device, void* stream, const void* from,
                                std::int64_t bytes, void* to) noexcept {
  return guarded([&] {
    const DeviceScope scope(device);
    copy_bytes(to, from, bytes, cudaMemcpyHostToDevice, stream);
  });
}

Status CudaDeviceMemory::download(std::int32_t device, void* stream, const void* from,
                                  std::int64_t bytes, void* to) noexcept {
  return guarded([&] {
    const DeviceScope scope(device);
    copy_bytes(to, from, bytes, cudaMemcpyDeviceToHost, stream);
  });
}

Status CudaDeviceMemory::describe(const DatasetView& rows,
                                  lloyd::RowsDescription& description) noexcept {
  return guarded([&] {
    const DeviceScope scope(rows.device);
    check_view(rows);
    if (rows.dtype == lloyd::DType::float32) {
      describe_view<float>(rows, description);
    } else {
      describe_view<double>(rows, description);
    }
  });
}

Status CudaDeviceMemory::copy_rows(const DatasetView& rows, const std::int64_t* row_numbers,
                                   std::int64_t count, void* values) noexcept {
  return guarded([&] {
    const DeviceScope scope(rows.device);
    check_view(rows);
    check_row_numbers(rows, row_numbers, count);
    if (count == 0) return;
    if (rows.dtype == lloyd::DType::float32) {
      copy_chosen<float>(rows, row_numbers, count, values);
    } else {
      copy_chosen<double>(rows, row_numbers, count, values);
    }
  });
}

}  // namespace lloyd_cuda
