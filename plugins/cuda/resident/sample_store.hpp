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
template <class T>
class SampleStore {
 public:
  /// The arrays of `dataset` must outlive the store, which holds nothing yet.
  SampleStore(const lloyd::DatasetView& dataset, Layout layout)
      : dataset_(dataset), layout_(dataset.features == 1 ? Layout::aos : layout) {}

  /// Holds the samples within `available` bytes of device memory. Copies nothing if it holds them
  /// already. Waits for the stream. Throws StatusError, `out_of_memory` if not even the buffers of
  /// batches fit; after a failed allocation it holds nothing.
  void hold(double available, cudaStream_t stream);
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
  bool holds_samples() const { return resident_ != nullptr || stream_ != nullptr; }

  lloyd::DatasetView dataset_;
  Layout layout_;
  StorePlan plan_;
  std::unique_ptr<ResidentSamples<T>> resident_;  // null: no row is resident
  std::unique_ptr<RowStream<T>> stream_;          // null: all rows are resident
  DeviceBuffer<T> transposed_;                    // a batch, for Layout::soa
};

}  // namespace lloyd_cuda
