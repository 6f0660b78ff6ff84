// SampleStore: the samples of a data set, in device memory or streamed through it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/passes/pass.hpp"
#include "cuda/resident/resident_samples.hpp"
#include "cuda/resident/row_stream.hpp"
#include "cuda/resident/store_plan.hpp"

namespace lloyd_cuda {

/// Keeps as many of the first samples in device memory as fit, and streams the others in each pass.
/// Samples of the caller in device memory are read in place, if can_be_read_in_place() says so;
/// otherwise those that fit are copied within the device, and the others batch by batch in each
/// pass.
template <class T>
class SampleStore {
 public:
  /// The arrays of `dataset` must outlive the store, which holds nothing yet. Every row of a
  /// row-major layout begins at a multiple of `row_alignment` bytes, or, if rows have no gaps, at a
  /// multiple of their size.
  SampleStore(const lloyd::DatasetView& dataset, Layout layout, std::int64_t row_alignment)
      : dataset_(dataset),
        layout_(dataset.features == 1 ? Layout::aos : layout),
        row_alignment_(row_alignment),
        in_place_(can_be_read_in_place(dataset, layout_, row_alignment)) {}

  /// Holds the samples within `available` bytes of device memory. Copies nothing if it holds them
  /// already. Waits for the stream. Throws StatusError, `out_of_memory` if not even the buffers of
  /// batches fit; after a failed allocation it holds nothing.
  void hold(double available, cudaStream_t stream);
  /// Holds the samples according to `plan`; copies nothing if they are held so already. Waits for
  /// the stream. Throws StatusError; after a failed allocation nothing is held.
  void hold(const StorePlan& plan, cudaStream_t stream);
  /// Bytes of a resident sample; 0 if samples are read in place.
  double row_bytes() const {
    return in_place_ ? 0 : static_cast<double>(dataset_.features) * sizeof(T);
  }
  /// True if all samples are in device memory.
  bool is_resident() const { return plan_.is_resident(); }
  const StorePlan& plan() const { return plan_; }

  /// Calls body(part, samples) for consecutive parts that cover `rows`, as RowStream::walk() does;
  /// one part if all samples are in device memory. Throws StatusError if it holds nothing.
  using Body = typename Step<T>::Body;
  using CancelRequested = typename Step<T>::CancelRequested;
  void walk(lloyd::RowRange rows, const std::int32_t* halt, const CancelRequested& cancel_requested,
            cudaStream_t stream, const Body& body);

 private:
  bool holds_samples() const {
    return resident_ != nullptr || stream_ != nullptr || batch_.size() > 0;
  }
  void walk_device_batches(lloyd::RowRange rows, const CancelRequested& cancel_requested,
                           cudaStream_t stream, const Body& body);

  lloyd::DatasetView dataset_;
  Layout layout_;
  std::int64_t row_alignment_;
  bool in_place_;
  StorePlan plan_;
  std::unique_ptr<ResidentSamples<T>> resident_;  // null: no row is resident
  // Null: all rows are resident, or they are in device memory.
  std::unique_ptr<RowStream<T>> stream_;
  DeviceBuffer<T> batch_;  // for Layout::soa, and for rows in device memory that are not resident
};

}  // namespace lloyd_cuda
