// DeviceLoop: what a fit means, over a Step, with the loop on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <lloyd/plugin/backend.hpp>
#include <lloyd/plugin/cluster_sums.hpp>

#include "cuda/buffer.hpp"
#include "cuda/farthest_pass.hpp"
#include "cuda/finish_pass.hpp"
#include "cuda/measure_pass.hpp"
#include "cuda/pass.hpp"
#include "cuda/stream.hpp"

namespace lloyd_cuda {

/// Wall time between two moments.
inline double milliseconds_between(std::chrono::steady_clock::time_point start,
                                   std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

/// Runs fits, labellings and partial passes of one resident data set. lloyd::drive_fit() makes a
/// fit of Passes, whose iterations the device finishes without the host where it can. Methods throw
/// StatusError; call them within guarded(), with the device current.
template <class T>
class DeviceLoop {
 public:
  /// What `dataset` points to must outlive the loop, as must `step` and `stream`.
  DeviceLoop(Step<T>& step, const lloyd::DatasetView& dataset, const Stream& stream);

  /// Session::fit().
  void fit(const lloyd::FitSpec& spec, lloyd::Observer* observer, lloyd::FitResult& result);
  /// Session::label().
  void label(const lloyd::LabelRequest& request, lloyd::Observer* observer,
             lloyd::LabelResult& result);
  /// Session::partial().
  void partial(const lloyd::PartialRequest& request, lloyd::Observer* observer,
               lloyd::PartialResult& result);

  /// Memory that a fit holds beside the samples and what the step holds.
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

  void wait();
  bool give_up();
  void fetch_state();
  void put_state();
  bool cancelled() const { return state_.halt == kHaltCancelled; }
  void raise_cancel();

  Step<T>& step_;
  lloyd::DatasetView dataset_;
  const Stream& stream_;
  Stream side_stream_;  // for the flag that cancels
  lloyd::SumPlan plan_;
  ResidentScale scale_;

  std::int64_t clusters_ = 0;
  lloyd::Observer* observer_ = nullptr;
  bool cancel_raised_ = false;  // since prepare()
  typename Step<T>::GivenUp given_up_;
  bool in_float64_ = false;  // whether float32 is not good enough for this fit's distances

  // Iteration i reads half i % 2 and writes the other one.
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
  unsigned long long* device_progress_;  // the device's address of progress_
  LoopState state_{};                    // as last fetched
};

}  // namespace lloyd_cuda
