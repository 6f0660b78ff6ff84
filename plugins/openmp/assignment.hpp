// Assignment: labels all samples in a pass, in row order or in spatial order.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/types.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/plugin/sdk/step.hpp>
#include <lloyd/plugin/sdk/thread_team.hpp>

#include "bounds/pruning.hpp"
#include "common/instruction_set.hpp"
#include "common/large_pages.hpp"
#include "row_assignment.hpp"
#include "row_worker.hpp"
#include "spatial/spatial_screen.hpp"

namespace lloyd_openmp {

/// A fit runs in spatial order as long as SpatialScreen prunes enough distances, otherwise in row
/// order. T: type of the samples.
template <class T>
class Assignment {
 public:
  static constexpr std::int64_t kBlockAlignment = SpatialScreen<T>::kBlockAlignment;

  /// The data that `dataset` refers to and `team`, whose threads call assign(), must outlive it.
  /// Fits of at least `min_spatial_samples` samples may use spatial order, unless the samples come
  /// in windows (use_samples()): spatial sorting reads all of them.
  Assignment(const lloyd::DatasetView& dataset, lloyd::ThreadTeam& team, InstructionSet set,
             Algorithm algorithm, std::int64_t min_spatial_samples = SpatialScreen<T>::kMinSamples)
      : dataset_(dataset),
        rows_(dataset, set, algorithm),
        spatial_allowed_(
            dataset.data != nullptr &&
            spatial_pays(algorithm, dataset.samples, dataset.features, min_spatial_samples)),
        spatial_(dataset, set, team) {
    // emplace_back: copies of a worker would lose the reserved capacity of its change queue.
    workers_.reserve(static_cast<std::size_t>(team.threads()));
    for (int thread = 0; thread < team.threads(); ++thread) workers_.emplace_back(dataset.features);
  }

  static std::int64_t bytes(std::int64_t n, std::int64_t k, std::int64_t d, std::int64_t threads,
                            Algorithm algorithm) {
    const bool spatial = spatial_pays(algorithm, n, d);
    return RowAssignment<T>::bytes(n, k, d, threads, algorithm, !spatial) +
           (spatial ? SpatialScreen<T>::bytes(n, k, d, threads) : 0);
  }

  /// Begins a fit: until end_fit(), bounds and rounded samples of one pass are reused by the next.
  /// With `defer_labels`, assign_positions() may leave labels unwritten until write_labels().
  void begin_fit(const lloyd::StepFitOptions& options = {}) {
    prepare_fit(true);
    spatial_.defer_labels(options.defer_labels);
  }
  /// The passes that follow are independent of each other.
  void end_fit() { prepare_fit(false); }

  /// Writes the labels that were left unwritten. `labels`: of all rows.
  void write_labels(std::int32_t* labels) { spatial_.write_labels(labels); }

  /// Call before each pass. `centroids`: k x d; they stay valid during the pass. `any_order`: the
  /// pass calls assign_positions(), otherwise assign(). `threads`: number of threads of the pass;
  /// thread numbers are 0 to threads - 1.
  void set_centroids(const double* centroids, std::int64_t k, bool any_order, int threads) {
    rows_.set_centroids(centroids, k);
    const DatasetScreen<T>& screens = rows_.screens();
    // A fit that stores no samples does not need the pages that earlier fits left in the cache.
    if (fit_begins_ && !spatial_allowed_ && !screens.uses_stored_tiles()) trim_pages();
    if (!any_order) {
      spatial_.skip_pass();
      // A fit whose first pass is in row order stays in row order.
      if (fit_begins_ && spatial_allowed_) leave_spatial_order();
    } else if (spatial_.begin_pass(centroids, k, screens.origin(),
                                   screens.can_screen() ? &screens.unmarked_limit() : nullptr,
                                   all_labels())) {
      leave_spatial_order();
    }
    fit_begins_ = false;
    std::int64_t open_count = 0;
    for (RowWorker<T>& worker : workers_of_pass()) {
      open_count += std::exchange(worker.open_count, 0);
    }
    rows_.begin_pass(open_count);
    threads_ = static_cast<std::size_t>(threads);
    for (RowWorker<T>& worker : workers_of_pass()) rows_.prepare(worker);
  }

  /// From now on row i is at `data` + i * stride, and only rows of `window` can be read. Not for
  /// passes in spatial order.
  void use_samples(const void* data, lloyd::RowRange window) {
    dataset_.data = data;
    rows_.use_samples(data, window);
  }

  /// RowAssignment::assign() with the scratch memory of thread number `thread`.
  template <class Report>
  std::int64_t assign(int thread, lloyd::RowRange block, std::int32_t* labels,
                      const Report& report) {
    return rows_.assign(worker(thread), block, labels, report);
  }

  /// Stores a pointer to the labels of all rows; spatial sorting reads them. Call on any thread of
  /// the pass, in every pass of a fit that uses assign_positions().
  void set_label_array(int thread, std::int32_t* labels) { worker(thread).labels = labels; }

  /// True if assign_positions() labels rows outside of its block in this pass.
  bool in_spatial_order() const { return spatial_.active(); }

  /// Labels block.size() rows, not necessarily those of the block. After one call for each block of
  /// a pass, every row has been labelled once. Blocks begin at multiples of kBlockAlignment.
  /// `labels`: labels of all rows of the data set.
  template <class Report>
  std::int64_t assign_positions(int thread, lloyd::RowRange block, std::int32_t* labels,
                                const Report& report) {
    set_label_array(thread, labels);
    if (!spatial_.active()) return assign(thread, block, labels + block.begin, report);
    RowWorker<T>& worker = this->worker(thread);
    std::int64_t changed = 0;
    const auto label_waiting = [&] {
      rows_.label_waiting_exactly(worker, [&](std::int64_t row, std::int32_t label) {
        std::int32_t& former = labels[row];
        if (former == label) return;
        const lloyd::LabelChange change{row, former, label};
        report(static_cast<const T*>(dataset_.data), dataset_.stride, &change, 1);
        former = label;
        ++changed;
      });
    };
    const SpatialCounts counts = spatial_.label(
        thread, block, labels,
        [&](std::int64_t row) {
          worker.needs_exact.add(row);
          if (worker.needs_exact.has_full_tile()) label_waiting();
        },
        report);
    while (!worker.needs_exact.empty()) label_waiting();
    worker.distances += counts.distances;
    return counts.changed + changed;
  }

  /// Returns the number of labels that the definition decided since the last call.
  std::int64_t take_exact_fallbacks() {
    std::int64_t decided = 0;
    for (RowWorker<T>& worker : workers_) decided += std::exchange(worker.exact_fallbacks, 0);
    return decided;
  }

  /// Returns the number of distances that the last pass computed or screened. A distance that
  /// several screens compute counts once.
  std::int64_t take_distances() {
    std::int64_t distances = 0;
    for (RowWorker<T>& worker : workers_of_pass()) {
      distances += std::exchange(worker.distances, 0);
    }
    return distances;
  }

 private:
  static bool spatial_pays(Algorithm algorithm, std::int64_t n, std::int64_t d,
                           std::int64_t min_samples = SpatialScreen<T>::kMinSamples) {
    const bool without_bounds = algorithm == Algorithm::lloyd || algorithm == Algorithm::automatic;
    return without_bounds && SpatialScreen<T>::supports(n, d, min_samples);
  }

  // The workers of the current or last pass: a pass over few samples touches no memory of others.
  std::span<RowWorker<T>> workers_of_pass() { return std::span(workers_).first(threads_); }

  RowWorker<T>& worker(int thread) { return workers_[static_cast<std::size_t>(thread)]; }

  void prepare_fit(bool begins) {
    fit_begins_ = begins;
    spatial_.begin_fit(begins && spatial_allowed_);
    rows_.begin_fit(begins && !spatial_allowed_, begins && !spatial_allowed_);
    for (RowWorker<T>& worker : workers_) {
      worker.distances = worker.exact_fallbacks = worker.open_count = 0;
      worker.labels = nullptr;
    }
  }

  // Switches to row order for the rest of the fit.
  void leave_spatial_order() {
    spatial_.begin_fit(false);
    rows_.begin_bounds(true);
  }

  // From set_label_array(); null if it has not been called in this fit.
  std::int32_t* all_labels() const {
    for (const RowWorker<T>& worker : workers_) {
      if (worker.labels != nullptr) return worker.labels;
    }
    return nullptr;
  }

  lloyd::DatasetView dataset_;
  RowAssignment<T> rows_;
  bool spatial_allowed_;
  bool fit_begins_ = false;
  SpatialScreen<T> spatial_;
  std::vector<RowWorker<T>> workers_;  // one per thread of the team
  std::size_t threads_ = 0;            // of the current or last pass
};

}  // namespace lloyd_openmp
