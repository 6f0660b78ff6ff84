// ConstantMemoryLock: serialises the use of constant memory between passes.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <mutex>

#include "cuda/device/check.hpp"

namespace lloyd_cuda {

/// All sessions of a plugin on a device share its constant memory. A pass that uses it holds this
/// lock while it enqueues its copy and its kernel; events order the passes of different streams on
/// the device.
class ConstantMemoryLock {
 public:
  /// Waits until no other thread holds the lock, and makes the stream wait for the work that they
  /// enqueued.
  explicit ConstantMemoryLock(cudaStream_t stream) : stream_(stream), lock_(mutex()) {
    int device = 0;
    check(cudaGetDevice(&device), "reading the current device");
    last_use_ = &last_uses()[static_cast<std::size_t>(device)];
    if (*last_use_ == nullptr) {
      check(cudaEventCreateWithFlags(last_use_, cudaEventDisableTiming), "creating an event");
    }
    check(cudaStreamWaitEvent(stream_, *last_use_, 0), "waiting for constant memory");
  }
  /// Releases the lock; the kernel must have been enqueued.
  ~ConstantMemoryLock() { cudaEventRecord(*last_use_, stream_); }
  ConstantMemoryLock(const ConstantMemoryLock&) = delete;
  ConstantMemoryLock& operator=(const ConstantMemoryLock&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  // Never destroyed, because the plugin is never unloaded.
  static std::array<cudaEvent_t, 16>& last_uses() {
    static std::array<cudaEvent_t, 16> instance{};
    return instance;
  }

  cudaStream_t stream_;
  std::lock_guard<std::mutex> lock_;
  cudaEvent_t* last_use_;
};

}  // namespace lloyd_cuda
