// Owning streams and events, and times between events.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda/device/check.hpp"

namespace lloyd_cuda {

/// A stream on the device that was current at construction.
class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  operator cudaStream_t() const { return stream_; }

  /// Waits until all enqueued work has finished.
  void synchronize() const { check(cudaStreamSynchronize(stream_), "running kernels"); }

  /// True if all enqueued work has finished.
  bool finished() const {
    const cudaError_t error = cudaStreamQuery(stream_);
    if (error == cudaErrorNotReady) return false;
    check(error, "running kernels");
    return true;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An event: a mark in a stream.
class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "creating an event"); }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }

  void record(cudaStream_t stream) const {
    check(cudaEventRecord(event_, stream), "recording an event");
  }
  void synchronize() const { check(cudaEventSynchronize(event_), "running kernels"); }
  /// True if the stream has reached the last record(), or there was none.
  bool finished() const {
    const cudaError_t error = cudaEventQuery(event_);
    if (error == cudaErrorNotReady) return false;
    check(error, "running kernels");
    return true;
  }
  operator cudaEvent_t() const { return event_; }

  /// Milliseconds from another event to this one; the stream must have reached both.
  double milliseconds_since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "timing");
    return static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace lloyd_cuda
