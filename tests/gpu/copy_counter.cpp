#include "copy_counter.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <mutex>

namespace lloyd::gpu_tests {
namespace {

std::mutex copy_mutex;
CopiedBytes copy_totals;

bool is_on_device(const void* address) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

void count_copy(const void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) {
    const bool from_device = is_on_device(from);
    const bool to_device = is_on_device(to);
    if (from_device == to_device) return;
    kind = to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  }
  const auto bytes = static_cast<std::int64_t>(size);
  const std::lock_guard lock(copy_mutex);
  if (kind == cudaMemcpyHostToDevice) {
    copy_totals.to_device += bytes;
    copy_totals.largest_to_device = std::max(copy_totals.largest_to_device, bytes);
  }
  if (kind == cudaMemcpyDeviceToHost) copy_totals.to_host += bytes;
}

// The function of the CUDA runtime.
template <class Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void reset_copies() {
  const std::lock_guard lock(copy_mutex);
  copy_totals = {};
}

CopiedBytes copied_bytes() {
  const std::lock_guard lock(copy_mutex);
  return copy_totals;
}

}  // namespace lloyd::gpu_tests

// Found before those of the runtime by the plugins, which are loaded later.
extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  static auto* const real = lloyd::gpu_tests::next(&cudaMemcpy, "cudaMemcpy");
  lloyd::gpu_tests::count_copy(to, from, size, kind);
  return real(to, from, size, kind);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  static auto* const real = lloyd::gpu_tests::next(&cudaMemcpyAsync, "cudaMemcpyAsync");
  lloyd::gpu_tests::count_copy(to, from, size, kind);
  return real(to, from, size, kind, stream);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  static auto* const real = lloyd::gpu_tests::next(&cudaMemcpy2D, "cudaMemcpy2D");
  lloyd::gpu_tests::count_copy(to, from, width * height, kind);
  return real(to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  static auto* const real = lloyd::gpu_tests::next(&cudaMemcpy2DAsync, "cudaMemcpy2DAsync");
  lloyd::gpu_tests::count_copy(to, from, width * height, kind);
  return real(to, to_pitch, from, from_pitch, width, height, kind, stream);
}

}  // extern "C"
