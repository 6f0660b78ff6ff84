// Where kernels read centroids from.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include "cuda/stream.hpp"

namespace lloyd_cuda {

/// A memory of the device that holds the centroids of a pass.
enum class CentroidSpace : std::int64_t {
  shared = 0,    ///< each block copies them into its shared memory
  global = 1,    ///< read in place, through the caches
  constant = 2,  ///< constant memory: 64 KiB, one address a clock for all lanes of a warp
};

/// Its name in parameters and notes.
constexpr const char* name_of(CentroidSpace space) {
  switch (space) {
    case CentroidSpace::shared:
      return "shared";
    case CentroidSpace::global:
      return "global";
    case CentroidSpace::constant:
      return "constant";
  }
  return "";
}

/// The note on it.
inline std::string note_of(CentroidSpace space) {
  return std::string("centroids in ") + name_of(space) + " memory";
}

/// What a plugin keeps of the 64 KiB of constant memory for centroids.
inline constexpr std::int64_t kConstantBytes = 60 * 1024;

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
