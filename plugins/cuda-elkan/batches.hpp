// Samples that stay in host memory and pass through the device in batches.
#pragma once

#include <cstdint>

#include <lloyd/plugin/dataset_view.hpp>

#include "cuda/buffer.hpp"
#include "cuda/pass.hpp"
#include "cuda/stream.hpp"

namespace lloyd_cuda_elkan {

/// Two batches on the device and two in pinned memory: while one is worked on, the next is copied.
template <class T>
class Batches {
 public:
  /// `dataset` must outlive it; a batch has at most `rows` rows. Throws StatusError.
  Batches(const lloyd::DatasetView& dataset, std::int64_t rows);

  /// Calls body(part, samples) for batches that cover `rows`, in order; a batch stays on the device
  /// until what the body enqueued on `stream` is done. With a `halt` flag (device memory) the walk
  /// ends soon after it is raised, and at the next batch once it is given up. Throws StatusError.
  using Body = typename lloyd_cuda::Step<T>::Body;
  using CancelRequested = typename lloyd_cuda::Step<T>::CancelRequested;
  void walk(lloyd::RowRange rows, const std::int32_t* halt, const CancelRequested& cancel_requested,
            cudaStream_t stream, const Body& body);

 private:
  struct Slot {
    explicit Slot(std::int64_t values) : device(values), pinned(values) {}
    lloyd_cuda::DeviceBuffer<T> device;
    lloyd_cuda::PinnedBuffer<T> pinned;
    lloyd_cuda::PinnedBuffer<std::int32_t> halted{1};  // what the flag was after the batch
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
