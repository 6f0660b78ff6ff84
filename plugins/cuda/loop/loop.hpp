// DeviceLoop: runs fits over a Step, with the iteration loop on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/device_memory.hpp>
#include <lloyd/plugin/abi/device_passes.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/plugin/sdk/iteration_rules.hpp>

#include "cuda/device/buffer.hpp"
#include "cuda/device/stream.hpp"
#include "cuda/loop/iteration_graph.hpp"
#include "cuda/passes/finish_pass.hpp"
#include "cuda/passes/measure_pass.hpp"
#include "cuda/passes/pass.hpp"
#include "cuda/relocation/farthest_selection.hpp"

namespace lloyd_cuda {

/// Wall time between two time points in milliseconds.
inline double milliseconds_between(std::chrono::steady_clock::time_point start,
                                   std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

/// Runs fits, label requests and partial passes on one resident data set. lloyd::drive_fit() runs a
/// fit over Passes: the host enqueues iterations ahead, and the device finishes them without the
/// host, unless the observer wants labels, the fit is profiled, or sums are compensated. If a
/// cluster is empty, the host enqueues the kernels that relocate it. The host reads no samples.
/// Methods throw StatusError; call them inside guarded(), with the device current.
template <class T>
class DeviceLoop {
 public:
  /// `step`, `stream` and the arrays of `dataset` must outlive the loop.
  DeviceLoop(Step<T>& step, const lloyd::DatasetView& dataset, const Stream& stream);
  ~DeviceLoop();
  DeviceLoop(const DeviceLoop&) = delete;
  DeviceLoop& operator=(const DeviceLoop&) = delete;

  /// Implements Session::fit().
  void fit(const lloyd::FitSpec& spec, lloyd::Observer* observer, lloyd::FitResult& result);
  /// Implements Session::label().
  void label(const lloyd::LabelRequest& request, lloyd::Observer* observer,
             lloyd::LabelResult& result);
  /// Implements Session::partial().
  void partial(const lloyd::PartialRequest& request, lloyd::Observer* observer,
               lloyd::PartialResult& result);

  /// DeviceResults::copy_results(). Enqueues the copies on the caller's stream.
  void copy_results(const lloyd::DeviceArrays& arrays);

  /// PassKernels::begin(); the other functions of that interface follow. `farthest` returns the
  /// number of samples.
  void begin_passes(const lloyd::PassOptions& options);
  void pass(const lloyd::PassRequest& request, lloyd::Observer* observer,
            lloyd::PassResult& result);
  /// DevicePasses::pass().
  void pass(const lloyd::DevicePassRequest& request, lloyd::Observer* observer,
            lloyd::DevicePassResult& result);
  std::int64_t farthest(std::int64_t wanted, lloyd::Observer* observer, lloyd::FarSample* samples);
  void pass_labels(std::int32_t* labels);
  void end_passes();

  /// Forgets the observer of the last request, and whether it requested cancellation.
  void end_request() {
    observer_ = nullptr;
    cancel_raised_ = false;
  }

  /// Memory of a fit, excluding the samples and the step.
  static lloyd::MemoryEstimate estimate(const lloyd::ProblemShape& shape);

 private:
  using Clock = std::chrono::steady_clock;
  /// The passes of a fit; loop_passes.hpp.
  class Passes;
  /// Passes that the host runs one by one; loop_pass_sequence.hpp.
  struct PassSequence;

  void prepare(std::int64_t clusters, lloyd::Observer* observer);
  void start_from(const double* centroids, const double* device_centroids = nullptr);
  void copy_totals_to(std::int64_t iteration);
  void carry_totals_over(std::int64_t iteration);
  void clear_totals(std::int64_t iteration);
  bool continue_from(PassSequence& sequence, const double* device_centroids);
  bool needs_float64(const double* centroids) const;
  void set_centroids(const double* centroids, std::size_t slot,
                     const double* device_centroids = nullptr);
  std::int64_t cells() const { return clusters_ * dataset_.features; }
  lloyd::RowRange all_rows() const { return {0, dataset_.samples}; }

  Totals enqueue_pass(PassSequence& sequence, const double* device_centroids);
  Totals former_totals(const PassSequence& sequence) const;
  template <class Body>
  void use_passes(lloyd::Observer* observer, const Body& body);

  Pass pass_of(std::int64_t iteration, lloyd::RowRange rows) const;
  Finish finish_of(const lloyd::FitSpec& spec, std::int64_t iteration) const;
  ReportRing prepare_report_ring(bool with_inertia);

  void measure(std::int64_t iteration, lloyd::RowRange rows, unsigned long long* counts,
               unsigned long long* inertia);
  void add_compensated(std::int64_t iteration, lloyd::RowRange rows);
  void fetch_sums(std::int64_t iteration, lloyd::ClusterSums& sums);
  void fetch_counts(const DeviceBuffer<unsigned long long>& from, std::int64_t* counts);
  void fetch_distances(double* squared_distances);
  const FarthestSelection& select_farthest(std::int64_t wanted, lloyd::RowRange rows,
                                           std::int64_t iteration);
  std::vector<lloyd::FarSample> find_farthest(std::int64_t wanted, lloyd::RowRange rows,
                                              std::int64_t iteration);

  void wait() {
    wait_until([this] { return stream_.finished(); });
  }
  void wait_until(const std::function<bool()>& finished);
  bool poll_cancel();
  void fetch_state();
  void wait_for_state();
  void upload_state();
  void enqueue_state();
  bool cancelled() const { return state_.halt == kHaltCancelled; }
  /// What the device has reported while kernels run.
  struct Progress {
    std::int64_t iterations;  ///< finished
    bool halted;              ///< for any reason
  };
  Progress progress() const {
    const unsigned long long word = std::atomic_ref(progress_[0]).load(std::memory_order_acquire);
    return {static_cast<std::int64_t>(word >> kProgressHaltBits),
            (word & ((1u << kProgressHaltBits) - 1)) != 0};
  }
  void raise_cancel();

  Step<T>& step_;
  lloyd::DatasetView dataset_;
  const Stream& stream_;
  Stream side_stream_;  // copies the cancellation flag
  lloyd::SumPlan plan_;
  ResidentScale scale_;

  std::int64_t clusters_ = 0;
  // Slot of the centroids of the last request; empty unless that was a completed fit or label
  // request. Its labels are in labels_, its counts in counts_[0].
  std::optional<std::size_t> results_;
  lloyd::Observer* observer_ = nullptr;
  bool cancel_raised_ = false;  // this request was cancelled
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
  std::unique_ptr<FarthestSelection> farthest_;  // null before the first selection
  DeviceBuffer<lloyd::Relocation> relocations_;  // k; empty before the first relocation
  PinnedBuffer<LoopState> host_state_{1};
  PinnedBuffer<double> initial_centroids_;  // k x d, read by start_kernel; empty if large
  // The memory of a ReportRing.
  PinnedBuffer<IterationReport> reports_{ReportRing::kSlots};
  PinnedBuffer<unsigned long long> inertias_{ReportRing::kSlots * lloyd::ExactSum::kChunks};
  PinnedBuffer<double> reported_centroids_;  // empty before the first observed fit, or if large
  PinnedBuffer<unsigned long long> progress_{1};
  PinnedBuffer<std::int32_t> cancel_flag_{1};
  unsigned long long* device_progress_;  // device pointer to progress_
  LoopState state_{};                    // last copy from the device
  std::unique_ptr<PassSequence> sequence_;
  IterationGraph graph_;               // of kGraphIterations, the first of which is odd
  IterationArguments last_arguments_;  // of an odd iteration of the last fit
};

}  // namespace lloyd_cuda
