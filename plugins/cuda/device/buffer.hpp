// Owning buffers: device memory and pinned host memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "cuda/device/check.hpp"

namespace lloyd_cuda {

/// Throws out_of_memory with the requested size and the free memory.
[[noreturn]] inline void throw_out_of_device_memory(std::size_t bytes) {
  cudaGetLastError();
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) cudaGetLastError();
  throw lloyd::StatusError(lloyd::StatusCode::out_of_memory,
                           "the device ran out of memory: " + std::to_string(bytes) +
                               " bytes were requested, " + std::to_string(free_bytes) + " of " +
                               std::to_string(total_bytes) + " are free");
}

/// `size` values of T in device memory, on the device that was current at the allocation.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceBuffer() = default;
  /// Allocates without initialising. Throws StatusError.
  explicit DeviceBuffer(std::int64_t size) : size_(size) {
    if (size == 0) return;
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    const cudaError_t error = cudaMalloc(reinterpret_cast<void**>(&data_), bytes);
    if (error == cudaErrorMemoryAllocation) throw_out_of_device_memory(bytes);
    check(error, "allocating device memory");
  }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  /// Changes the size. Frees the old memory before it allocates; the values are lost unless the
  /// size is the same.
  void resize(std::int64_t size) {
    if (size == size_) return;
    *this = DeviceBuffer();
    *this = DeviceBuffer(size);
  }

  /// Device pointer; null if empty.
  T* data() const { return data_; }
  /// Number of values.
  std::int64_t size() const { return size_; }

  /// Enqueues setting all bytes to `byte`.
  void fill_bytes(int byte, cudaStream_t stream) const {
    if (size_ == 0) return;
    check(cudaMemsetAsync(data_, byte, static_cast<std::size_t>(size_) * sizeof(T), stream),
          "filling device memory");
  }
  /// Enqueues a copy of a buffer of the same size.
  void copy_from(const DeviceBuffer& other, cudaStream_t stream) const {
    if (size_ == 0) return;
    check(cudaMemcpyAsync(data_, other.data_, static_cast<std::size_t>(size_) * sizeof(T),
                          cudaMemcpyDeviceToDevice, stream),
          "copying device memory");
  }
  /// Enqueues a copy of `count` values from host memory to index `offset`.
  void upload(const T* from, std::int64_t count, cudaStream_t stream,
              std::int64_t offset = 0) const {
    if (count == 0) return;
    check(cudaMemcpyAsync(data_ + offset, from, static_cast<std::size_t>(count) * sizeof(T),
                          cudaMemcpyHostToDevice, stream),
          "copying to the device");
  }
  /// Enqueues a copy of `count` values from index `offset` to host memory; they are valid after the
  /// stream is synchronized.
  void download(T* to, std::int64_t count, cudaStream_t stream, std::int64_t offset = 0) const {
    if (count == 0) return;
    check(cudaMemcpyAsync(to, data_ + offset, static_cast<std::size_t>(count) * sizeof(T),
                          cudaMemcpyDeviceToHost, stream),
          "copying from the device");
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// `size` values of T in pinned host memory that is mapped into the device's address space.
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedBuffer() = default;
  /// Allocates without initialising. Throws StatusError.
  explicit PinnedBuffer(std::int64_t size) : size_(size) {
    if (size == 0) return;
    check(
        cudaHostAlloc(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(size) * sizeof(T),
                      cudaHostAllocMapped | cudaHostAllocPortable),
        "allocating pinned host memory");
  }
  ~PinnedBuffer() { cudaFreeHost(data_); }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  /// Host pointer.
  T* data() const { return data_; }
  /// Number of values.
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) const { return data_[i]; }

  /// Device pointer to the same memory.
  T* device_data() const {
    T* address = nullptr;
    check(cudaHostGetDevicePointer(reinterpret_cast<void**>(&address), data_, 0),
          "mapping pinned host memory");
    return address;
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace lloyd_cuda
