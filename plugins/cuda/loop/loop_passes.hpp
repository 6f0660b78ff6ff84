// DeviceLoop::Passes: the passes of a fit on the device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <lloyd/plugin/sdk/fit_driver.hpp>

#include "cuda/loop/loop.hpp"

namespace lloyd_cuda {

/// The device finishes iterations and decides when a fit ends. Unless the fit is profiled or its
/// iterations are observed, update() enqueues iterations ahead of the device. The host updates if
/// clusters are empty or sums are compensated.
template <class T>
class DeviceLoop<T>::Passes final : public lloyd::FitPasses, public lloyd::RelocationPasses {
 public:
  /// After DeviceLoop::prepare(). All arguments must outlive the passes.
  Passes(DeviceLoop& loop, const lloyd::FitSpec& spec, lloyd::Observer* observer);

  void begin() override;
  void assign() override;
  double inertia() override;
  lloyd::FinishedIterations update(std::int64_t iteration) override;
  double squared_shift() override { return loop_.state_.shift; }
  const std::int32_t* labels() override;
  std::span<const double> centroids() override;
  void close(lloyd::FitResult& result) override;
  void report(lloyd::FitResult& result) override;

  std::vector<lloyd::FarSample> find_farthest(std::int64_t wanted) override;
  void move_sample(const lloyd::Relocation& relocation, lloyd::ClusterSums& sums) override;
  void recompute_sums(const std::vector<lloyd::Relocation>& relocations,
                      lloyd::ClusterSums& sums) override;

 private:
  void enqueue_assignment(std::int64_t iteration);
  void enqueue_finish(std::int64_t iteration);
  void run_ahead();
  void finish_observed(std::int64_t iteration);
  void finish_on_host();
  void fetch_centroids();
  void begin_phase(Phase phase);

  DeviceLoop& loop_;
  const lloyd::FitSpec& spec_;
  bool runs_ahead_;      // the host does not wait for each iteration
  bool changes_wanted_;  // the device counts changed labels and keeps all labels up to date
  bool closed_ = false;
  std::int64_t relocations_ = 0;  // of the last finished iteration
  double transfer_ms_ = 0;
  PhaseTimer phases_;
  std::vector<std::int32_t> labels_;  // last fetched from the device
  std::vector<double> centroids_;     // the same
};

}  // namespace lloyd_cuda
