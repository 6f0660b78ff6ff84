// DeviceLoop::Passes: the passes of a fit on the device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <lloyd/plugin/sdk/fit_driver.hpp>

#include "cuda/loop/loop.hpp"

namespace lloyd_cuda {

/// The device finishes iterations and decides when a fit ends. The host enqueues iterations ahead
/// of the device, which reports each of them in a ReportRing if the fit is observed. The device
/// halts if a cluster is empty; the host then enqueues the relocation. The host updates if sums are
/// compensated.
template <class T>
class DeviceLoop<T>::Passes final : public lloyd::FitPasses, public lloyd::RelocationPasses {
 public:
  /// After DeviceLoop::prepare(). All arguments must outlive the passes.
  Passes(DeviceLoop& loop, const lloyd::FitSpec& spec, lloyd::Observer* observer);
  /// After a cancellation or an error, ends the iterations that are still enqueued: they use memory
  /// of the loop.
  ~Passes();
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;

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
  enum class Mode {
    unobserved,  ///< update() enqueues iterations until the fit ends
    reported,    ///< further iterations run while the observer receives the report of one
    /// The host waits for each iteration: in profiled fits, for observed labels, for compensated
    /// sums.
    synchronous,
  };
  static Mode mode_of(const DeviceLoop& loop, const lloyd::FitSpec& spec, bool observed);

  Pass pass_of(std::int64_t iteration) const;
  IterationArguments arguments_of(std::int64_t iteration) const;
  void enqueue_assignment(std::int64_t iteration);
  void enqueue_update(std::int64_t iteration);
  void enqueue_iteration(std::int64_t iteration);
  std::int64_t enqueue_iterations(std::int64_t first, std::int64_t finished);
  void run_ahead();
  void enqueue_ahead(std::int64_t finished);
  void wait_for(std::int64_t iteration);
  IterationReport report_of(std::int64_t iteration) const;
  double* reported_centroids(std::int64_t finished) const;
  void finish_reported(std::int64_t iteration);
  void finish_synchronously(std::int64_t iteration);
  void finish_halted();
  void finish_by_relocating();
  void finish_on_host();
  void fetch_centroids();
  void begin_phase(Phase phase);

  DeviceLoop& loop_;
  const lloyd::FitSpec& spec_;
  Mode mode_;
  ReportRing ring_;            // with Mode::reported
  std::int64_t max_ahead_;     // maximum number of enqueued, unfinished iterations
  std::int64_t enqueued_ = 0;  // number of iterations enqueued so far; with Mode::reported
  bool changes_wanted_;        // the device counts changed labels and keeps all labels up to date
  std::optional<bool> repeats_last_fit_;  // set in the first odd iteration without a graph
  // What Step::run_iterations() returned in this fit; unset: not called yet.
  std::optional<bool> runs_in_one_launch_;
  bool closed_ = false;
  std::int64_t relocations_ = 0;  // of the last finished iteration
  double transfer_ms_ = 0;
  PhaseTimer phases_;
  std::vector<std::int32_t> labels_;  // last fetched from the device
  std::vector<double> centroids_;     // the same
};

}  // namespace lloyd_cuda
