// The part of the CUDA runtime that apps/cuda_plugin_template uses, emulated on the host: two
// devices, whose threads run one after another. For test_cuda_source.py.
#pragma once

#include <sys/mman.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#define __global__

struct EmulatedIndex {
  unsigned x = 0;
};
inline thread_local EmulatedIndex blockIdx, threadIdx, blockDim;

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
};

constexpr int kEmulatedDevices = 2;
inline thread_local int emulated_device = 0;

inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t) {
  return "an emulated error";
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = kEmulatedDevices;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = emulated_device;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kEmulatedDevices) return cudaErrorInvalidDevice;
  emulated_device = device;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  std::snprintf(properties->name, sizeof(properties->name), "emulated device %d", device);
  properties->totalGlobalMem = std::size_t{1} << 30;
  return cudaSuccess;
}

// Pages of their own, so that device memory does not count as memory of the heap. The first one
// holds the size.
constexpr std::size_t kEmulatedPage = 4096;
inline cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  bytes += kEmulatedPage;
  void* const pages =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return cudaErrorMemoryAllocation;
  std::memcpy(pages, &bytes, sizeof(bytes));
  *data = static_cast<char*>(pages) + kEmulatedPage;
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* data) {
  if (data == nullptr) return cudaSuccess;
  void* const pages = static_cast<char*>(data) - kEmulatedPage;
  std::size_t bytes = 0;
  std::memcpy(&bytes, pages, sizeof(bytes));
  ::munmap(pages, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                std::size_t from_pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind) {
  for (std::size_t row = 0; row < height; ++row) {
    std::memcpy(static_cast<char*>(to) + row * to_pitch,
                static_cast<const char*>(from) + row * from_pitch, width);
  }
  return cudaSuccess;
}

inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dsub_rn(double a, double b) {
  return a - b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}

// kernel<<<blocks, threads>>>(arguments...)
template <class Kernel, class... Arguments>
void launch_on_host(unsigned blocks, unsigned threads, Kernel kernel, Arguments... arguments) {
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) kernel(arguments...);
  }
}
