// Batches: streams samples from host memory through the device.
#pragma once

#include <cstdint>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd_cuda_elkan {

/// Double buffering: two batches on the device and two in pinned memory, so that one is processed
/// while the next is copied.
template <class T>
class Batches {
 public:
  /// `dataset` must outlive this object; a batch has at most `rows` rows. Throws StatusError.
  Batches(const lloyd::DatasetView& dataset, std::int64_t rows);

  /// Calls body(part, samples) for batches that cover `rows` in ascending order. A batch stays on
  /// the device until the work that the body enqueued on `stream` has finished. If `halt` (device
  /// memory) is given, the iteration ends soon after it is set, and at the next batch after
  /// cancellation was requested. Throws StatusError.
  using Body = typename lloyd_cuda::Step<T>::Body;
  using CancelRequested = typename lloyd_cuda::Step<T>::CancelRequested;
  void walk(lloyd::RowRange rows, const std::int32_t* halt, const CancelRequested& cancel_requested,
            cudaStream_t stream, const Body& body);

 private:
  struct Slot {
    explicit Slot(std::int64_t values) : device(values), pinned(values) {}
    lloyd_cuda::DeviceBuffer<T> device;
    lloyd_cuda::PinnedBuffer<T> pinned;
    lloyd_cuda::PinnedBuffer<std::int32_t> halted{1};  // value of the flag after the batch
    lloyd_cuda::Event copied;
    lloyd_cuda::Event used;
  };

  void pack(lloyd::RowRange rows, T* to) const;

  lloyd::DatasetView dataset_;
  std::int64_t batch_rows_;
  lloyd_cuda::Stream copies_;
  Slot slots_[2];
  int next_ = 0;
};

}  // namespace lloyd_cuda_elkan
