// Streams and arrays of a caller, for the tests of device memory.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <lloyd/registry.hpp>

#include "backends.hpp"

namespace lloyd::gpu_tests {

/// Names of the CUDA backends that read samples in device memory.
inline std::vector<std::string> device_memory_backends() {
  std::vector<std::string> names;
  for (const std::string& name : cuda_backends()) {
    if ((registry().load(name)->info().capabilities & kCapabilityDeviceMemory) != 0) {
      names.push_back(name);
    }
  }
  return names;
}

inline void expect_success(cudaError_t error) {
  EXPECT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

/// Enqueues 100 ms of host work, which delays all later work of the stream.
inline void delay_stream(cudaStream_t stream) {
  expect_success(cudaLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }, nullptr));
}

/// A stream of the caller.
class CallerStream {
 public:
  CallerStream() { expect_success(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~CallerStream() { cudaStreamDestroy(stream_); }
  CallerStream(const CallerStream&) = delete;
  CallerStream& operator=(const CallerStream&) = delete;
  operator cudaStream_t() const { return stream_; }

  void delay() const { delay_stream(stream_); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// `size` values in device memory.
template <class T>
std::shared_ptr<T> device_array(std::int64_t size) {
  void* address = nullptr;
  expect_success(cudaMalloc(&address, static_cast<std::size_t>(size) * sizeof(T)));
  return {static_cast<T*>(address), [](T* allocated) { cudaFree(allocated); }};
}

/// `size` values in pinned host memory.
template <class T>
std::shared_ptr<T> pinned_array(std::int64_t size) {
  void* address = nullptr;
  expect_success(cudaMallocHost(&address, static_cast<std::size_t>(size) * sizeof(T)));
  return {static_cast<T*>(address), [](T* allocated) { cudaFreeHost(allocated); }};
}

}  // namespace lloyd::gpu_tests
