// RowStream: streams samples from host memory through the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/device/host_registration.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd {
class ThreadTeam;
}

namespace lloyd_cuda {

/// Double buffering: one batch of rows is processed on the device while the next is copied. The
/// caller's memory is page-locked if HostRegistration does so; otherwise threads copy each batch to
/// pinned memory first.
template <class T>
class RowStream {
 public:
  /// The arrays of `dataset` must outlive this object; only the rows from `first_row` on are
  /// streamed. A batch has at most `batch_rows` rows. Throws StatusError.
  RowStream(const lloyd::DatasetView& dataset, std::int64_t first_row, std::int64_t batch_rows);
  ~RowStream();
  RowStream(const RowStream&) = delete;
  RowStream& operator=(const RowStream&) = delete;

  /// Device memory and, at most, pinned memory of two batches, bytes.
  static double bytes(double batch_rows, double features) {
    return 2 * batch_rows * features * sizeof(T);
  }

  /// Calls body(part, samples), with samples densely packed, for batches that cover `rows` in
  /// ascending order. A batch stays on the device until the work that the body enqueued on `stream`
  /// has finished. If `halt` (device memory) is given, the calls end soon after it is set, and at
  /// the next batch after cancellation was requested. Throws StatusError.
  using Body = typename Step<T>::Body;
  using CancelRequested = typename Step<T>::CancelRequested;
  void walk(lloyd::RowRange rows, const std::int32_t* halt, const CancelRequested& cancel_requested,
            cudaStream_t stream, const Body& body);

 private:
  struct Slot {
    explicit Slot(std::int64_t values) : device(values) {}
    DeviceBuffer<T> device;
    PinnedBuffer<T> staging;               // empty if the caller's memory is page-locked
    PinnedBuffer<std::int32_t> halted{1};  // value of the flag after the batch
    Event copied;
    Event used;
  };

  void enqueue_copy(lloyd::RowRange rows, Slot& slot);
  void pack(lloyd::RowRange rows, T* to);

  lloyd::DatasetView dataset_;
  std::int64_t batch_rows_;
  HostRegistration registration_;
  std::unique_ptr<lloyd::ThreadTeam> team_;  // null if the caller's memory is page-locked
  Stream copies_;
  Slot slots_[2];
  int next_ = 0;
};

}  // namespace lloyd_cuda
