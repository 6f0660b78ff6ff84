// DeviceLoop: runs fits over a Step, with the iteration loop on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/passes/farthest_pass.hpp"
#include "cuda/passes/finish_pass.hpp"
#include "cuda/passes/measure_pass.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd_cuda {

/// Wall time between two time points in milliseconds.
inline double milliseconds_between(std::chrono::steady_clock::time_point start,
                                   std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

/// Runs fits, label requests and partial passes on one resident data set. lloyd::drive_fit() runs a
/// fit over Passes: the host enqueues iterations ahead, and the device finishes them without the
/// host, unless the observer wants iteration records, the fit is profiled, a cluster is empty, or
/// sums are compensated. Methods throw StatusError; call them inside guarded(), with the device
/// current.
template <class T>
class DeviceLoop {
 public:
  /// `step`, `stream` and the arrays of `dataset` must outlive the loop.
  DeviceLoop(Step<T>& step, const lloyd::DatasetView& dataset, const Stream& stream);

  /// Implements Session::fit().
  void fit(const lloyd::FitSpec& spec, lloyd::Observer* observer, lloyd::FitResult& result);
  /// Implements Session::label().
  void label(const lloyd::LabelRequest& request, lloyd::Observer* observer,
             lloyd::LabelResult& result);
  /// Implements Session::partial().
  void partial(const lloyd::PartialRequest& request, lloyd::Observer* observer,
               lloyd::PartialResult& result);

  /// Memory of a fit without samples and step.
  static lloyd::MemoryEstimate estimate(const lloyd::ProblemShape& shape);

 private:
  using Clock = std::chrono::steady_clock;

  void prepare(std::int64_t clusters, lloyd::Observer* observer);
  void start_from(const double* centroids);
  std::int64_t cells() const { return clusters_ * dataset_.features; }
  const T* rows() const { return static_cast<const T*>(dataset_.data); }
  lloyd::RowRange all_rows() const { return {0, dataset_.samples}; }

  /// The passes of a fit; loop_passes.hpp.
  class Passes;

  Pass pass_of(std::int64_t iteration, lloyd::RowRange rows) const;
  Finish finish_of(const lloyd::FitSpec& spec, std::int64_t iteration) const;

  void measure(std::int64_t iteration, lloyd::RowRange rows, unsigned long long* counts,
               unsigned long long* inertia);
  void fetch_sums(std::int64_t iteration, lloyd::ClusterSums& sums);
  void fetch_counts(const DeviceBuffer<unsigned long long>& from, std::int64_t* counts);
  void fetch_distances(double* squared_distances);
  std::vector<lloyd::FarSample> find_farthest(const lloyd::PartialRequest& request,
                                              const lloyd::PartialResult& result);

  void wait();
  bool poll_cancel();
  void fetch_state();
  void upload_state();
  bool cancelled() const { return state_.halt == kHaltCancelled; }
  void raise_cancel();

  Step<T>& step_;
  lloyd::DatasetView dataset_;
  const Stream& stream_;
  Stream side_stream_;  // copies the cancellation flag
  lloyd::SumPlan plan_;
  ResidentScale scale_;

  std::int64_t clusters_ = 0;
  lloyd::Observer* observer_ = nullptr;
  bool cancel_raised_ = false;  // cancellation was requested since prepare()
  typename Step<T>::CancelRequested cancel_requested_;
  bool in_float64_ = false;  // this fit is outside of lloyd::Float32Range

  // Double buffers: iteration i reads slot i % 2 and writes the other one.
  DeviceBuffer<double> centroids_[2];
  DeviceBuffer<float> rounded_[2];
  DeviceBuffer<lloyd::SumWords> sums_[2];
  DeviceBuffer<unsigned long long> counts_[2];
  DeviceBuffer<std::int32_t> labels_;
  DeviceBuffer<LoopState> device_state_{1};
  ResidentExactSum inertia_;
  PinnedBuffer<LoopState> host_state_{1};
  PinnedBuffer<unsigned long long> progress_{1};
  PinnedBuffer<std::int32_t> cancel_flag_{1};
  unsigned long long* device_progress_;  // device pointer to progress_
  LoopState state_{};                    // last copy from the device
};

}  // namespace lloyd_cuda
