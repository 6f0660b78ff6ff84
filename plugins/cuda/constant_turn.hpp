// ConstantTurn: constant memory for one pass at a time.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <mutex>

#include "cuda/check.hpp"

namespace lloyd_cuda {

/// Constant memory is one for all sessions of a plugin on a device: a pass that uses it holds a
/// turn while it enqueues the copy and the kernel, and the device keeps turns of several streams
/// apart.
class ConstantTurn {
 public:
  /// Waits for other threads, and makes the stream wait for what they enqueued.
  explicit ConstantTurn(cudaStream_t stream) : stream_(stream), lock_(mutex()) {
    int device = 0;
    check(cudaGetDevice(&device), "asking for the current device");
    last_use_ = &last_uses()[static_cast<std::size_t>(device)];
    if (*last_use_ == nullptr) {
      check(cudaEventCreateWithFlags(last_use_, cudaEventDisableTiming), "making an event");
    }
    check(cudaStreamWaitEvent(stream_, *last_use_, 0), "waiting for constant memory");
  }
  /// After the kernel was enqueued.
  ~ConstantTurn() { cudaEventRecord(*last_use_, stream_); }
  ConstantTurn(const ConstantTurn&) = delete;
  ConstantTurn& operator=(const ConstantTurn&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  // As long as the plugin, which is never unloaded.
  static std::array<cudaEvent_t, 16>& last_uses() {
    static std::array<cudaEvent_t, 16> instance{};
    return instance;
  }

  cudaStream_t stream_;
  std::lock_guard<std::mutex> lock_;
  cudaEvent_t* last_use_;
};

}  // namespace lloyd_cuda
