// LloydLoop: the one implementation of what a fit means, over a Step.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/plugin/backend.hpp>
#include <lloyd/plugin/cluster_sums.hpp>
#include <lloyd/plugin/distance.hpp>
#include <lloyd/plugin/exact_sum.hpp>
#include <lloyd/plugin/farthest_samples.hpp>
#include <lloyd/plugin/float_environment.hpp>
#include <lloyd/plugin/iteration_rules.hpp>
#include <lloyd/plugin/step.hpp>

namespace lloyd {

/// Runs fits, labellings and partial passes of one data set in host memory. Stop rules, update,
/// empty clusters, closing assignment, observer and cancellation are here; the step assigns.
/// Methods throw StatusError; call them within guarded(). Source: S. P. Lloyd, "Least squares
/// quantization in PCM", 1982.
template <Step S>
class LloydLoop {
 public:
  using T = typename S::value_type;  ///< of the samples: float or double

  /// `step` and what `dataset` points to must outlive the loop.
  LloydLoop(S& step, const DatasetView& dataset)
      : step_(step), dataset_(dataset), plan_(SumPlan::make(dataset)) {}

  /// Session::fit().
  void fit(const FitSpec& spec, Observer* observer, FitResult& result) {
    prepare(spec.clusters, observer);
    step_.profile(spec.profile != 0);
    if constexpr (KeepsBounds<S>) step_.keep_bounds(true);
    // Observers of inertia and labels have them read after each iteration.
    const bool deferred = (spec.observe & (kObserveInertia | kObserveLabels)) == 0;
    if constexpr (DefersLabels<S>) step_.defer_labels(deferred);
    std::int32_t* labels = wanted_or_own(result.labels, dataset_.samples);
    std::fill_n(labels, dataset_.samples, -1);
    centroids_.assign(spec.initial_centroids, spec.initial_centroids + cells());
    result.sum_form = plan_.form;
    result.valid = 0;
    result.iterations = result.relocations = result.distances = 0;
    result.phases = {};
    if constexpr (Screens<S>) step_.take_exact_fallbacks();

    const Clock::time_point start = Clock::now();
    const bool finished = iterate(spec, observer, labels, start, result);
    result.loop_ms = milliseconds_since(start);
    const Clock::time_point closing = Clock::now();
    const bool closed = finished && close(labels, result);
    result.closing_ms = milliseconds_since(closing);

    if constexpr (Screens<S>) result.exact_fallbacks = step_.take_exact_fallbacks();
    if (result.centroids != nullptr) {
      std::copy(centroids_.begin(), centroids_.end(), result.centroids);
      result.valid |= kValidCentroids;
    }
    if (!closed) {
      result.stop_reason = StopReason::cancelled;
      cancel();
    }
  }

  /// Session::label().
  void label(const LabelRequest& request, Observer* observer, LabelResult& result) {
    prepare(request.clusters, observer);
    result.valid = 0;
    const Clock::time_point start = Clock::now();
    std::int32_t* labels = wanted_or_own(result.labels, dataset_.samples);
    std::fill_n(labels, dataset_.samples, -1);
    centroids_.assign(request.centroids, request.centroids + cells());
    if (!assign_all(labels, Accumulate::counts_and_inertia, result.squared_distances)) cancel();
    publish(result.labels != nullptr, result.counts, result.inertia, result.valid);
    result.label_ms = milliseconds_since(start);
  }

  /// Session::partial().
  void partial(const PartialRequest& request, Observer* observer, PartialResult& result) {
    prepare(request.clusters, observer);
    centroids_.assign(request.centroids, request.centroids + cells());
    step_.set_centroids(centroids_.data(), clusters_);
    const RowRange rows = request.rows;
    std::int32_t* labels = wanted_or_own(result.labels, rows.size());
    const std::int64_t far =
        result.farthest == nullptr
            ? 0
            : std::clamp<std::int64_t>(request.farthest_wanted, 0, rows.size());
    for (Worker& worker : workers_) worker.farthest = FarthestSamples(far);
    const bool finished = for_each_block(rows, [&](Worker& worker, RowRange block) {
      std::int32_t* block_labels = labels + (block.begin - rows.begin);
      worker.changed += step_.assign(block, block_labels);
      if (plan_.is_integer()) add_block(worker.sums, block, block_labels);
      const std::int32_t* const of_row = labels - rows.begin;
      for_each_own_distance(block, of_row, [&](std::int64_t i, double distance) {
        worker.inertia.add(distance);
        worker.farthest.add({i, distance, of_row[i], 0});
      });
    });

    if (!finished) cancel();

    ClusterSums sums(plan_, clusters_);
    sums.load(result.sums, result.counts);
    if (plan_.is_integer()) {
      for (Worker& worker : workers_) {
        if (worker.used) sums.merge(worker.sums);
      }
    } else {
      add_block(sums, rows, labels);
    }
    sums.store(result.sums, result.counts);
    result.sum_form = plan_.form;
    result.changed = 0;
    FarthestSamples farthest(far);
    for (const Worker& worker : workers_) {
      result.changed += worker.changed;
      if (result.inertia != nullptr) result.inertia->add(worker.inertia);
      farthest.add(worker.farthest);
    }
    const std::vector<FarSample> found = farthest.sorted();
    std::copy(found.begin(), found.end(), result.farthest);
    result.farthest_count = static_cast<std::int64_t>(found.size());
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct alignas(64) Worker {
    Worker(const SumPlan& plan, std::int64_t clusters)
        : sums(plan, clusters), counts(static_cast<std::size_t>(clusters)), farthest(0) {}
    bool used = false;  // since it was cleared: of small data sets most have nothing to do
    ClusterSums sums;
    std::vector<std::int64_t> counts;
    ExactSum inertia;
    FarthestSamples farthest;
    std::int64_t changed = 0;
  };

  enum class Accumulate { nothing, sums, changes, counts_and_inertia };

  [[noreturn]] static void cancel() {
    throw StatusError(StatusCode::cancelled, "the observer asked to stop");
  }

  static double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  // The caller's labels, or room of our own, without former labels, where they are not wanted.
  std::int32_t* wanted_or_own(std::int32_t* wanted, std::int64_t rows) {
    if (wanted != nullptr) return wanted;
    own_labels_.assign(static_cast<std::size_t>(rows), -1);
    return own_labels_.data();
  }

  std::int64_t cells() const { return clusters_ * dataset_.features; }

  const T* row(std::int64_t i) const {
    return static_cast<const T*>(dataset_.data) + i * dataset_.stride;
  }

  double own_distance(std::int64_t i, std::int32_t label) const {
    return squared_distance(row(i), centroids_.data() + label * dataset_.features,
                            dataset_.features);
  }

  // use(i, distance) for all samples of a block and the centroids of their labels.
  template <class Use>
  void for_each_own_distance(RowRange block, const std::int32_t* labels, const Use& use) const {
    constexpr std::int64_t kAtOnce = 4;
    std::int64_t i = block.begin;
    for (; i + kAtOnce <= block.end; i += kAtOnce) {
      const T* samples[kAtOnce];
      const double* own[kAtOnce];
      double distances[kAtOnce];
      for (std::int64_t a = 0; a < kAtOnce; ++a) {
        samples[a] = row(i + a);
        own[a] = centroids_.data() + labels[i + a] * dataset_.features;
      }
      squared_distances(samples, own, dataset_.features, distances);
      for (std::int64_t a = 0; a < kAtOnce; ++a) use(i + a, distances[a]);
    }
    for (; i < block.end; ++i) use(i, own_distance(i, labels[i]));
  }

  void add_block(ClusterSums& sums, RowRange block, const std::int32_t* labels) const {
    sums.add(row(block.begin), dataset_.stride, block.size(), labels, sum_kernels());
  }

  SumKernels<T> sum_kernels() const {
    if constexpr (HasSumKernels<S>) {
      return step_.sum_kernels();
    } else {
      return {};
    }
  }

  void prepare(std::int64_t clusters, Observer* observer) {
    if (workers_.empty() || clusters != clusters_) {
      workers_.clear();  // none are left when memory runs out half way
      std::vector<Worker> workers;
      workers.reserve(static_cast<std::size_t>(step_.workers()));
      for (int w = 0; w < step_.workers(); ++w) workers.emplace_back(plan_, clusters);
      sums_.emplace(plan_, clusters);
      workers_.swap(workers);
      clusters_ = clusters;
    }
    for (Worker& worker : workers_) clear(worker);
    step_.profile(false);
    if constexpr (KeepsBounds<S>) step_.keep_bounds(false);
    observer_ = observer;
    stopped_ = false;
  }

  void clear(Worker& worker) const {
    if (!worker.used) return;
    worker.used = false;
    worker.sums.clear();
    worker.counts.assign(static_cast<std::size_t>(clusters_), 0);
    worker.inertia = {};
    worker.changed = 0;
  }

  // Runs `body` over all blocks of `rows`; false when the observer asked to stop meanwhile.
  template <class Body>
  bool for_each_block(RowRange rows, Body&& body) {
    step_.for_each_block(rows, [&](int worker, RowRange block) {
      if (stopped_.load(std::memory_order_relaxed)) return false;
      if (observer_ != nullptr && observer_->stop_requested()) {
        stopped_.store(true, std::memory_order_relaxed);
        return false;
      }
      const FloatEnvironment environment;
      Worker& own = workers_[static_cast<std::size_t>(worker)];
      own.used = true;
      body(own, block);
      return true;
    });
    return !stopped_.load();
  }

  RowRange all_rows() const { return {0, dataset_.samples}; }

  bool assign_all(std::int32_t* labels, Accumulate accumulate,
                  double* squared_distances = nullptr) {
    for (Worker& worker : workers_) clear(worker);
    if constexpr (DefersLabels<S>) step_.expect_changes(accumulate == Accumulate::changes);
    step_.set_centroids(centroids_.data(), clusters_);
    return for_each_block(all_rows(), [&](Worker& worker, RowRange block) {
      if constexpr (TellsChanges<S>) {
        if (accumulate == Accumulate::changes) {
          LabelChanges<T> changes(dataset_, worker.sums, sum_kernels());
          worker.changed += step_.assign(block, labels + block.begin, changes);
          return;
        }
      }
      worker.changed += step_.assign(block, labels + block.begin);
      if (accumulate == Accumulate::sums) add_block(worker.sums, block, labels + block.begin);
      if (accumulate != Accumulate::counts_and_inertia) return;
      for_each_own_distance(block, labels, [&](std::int64_t i, double distance) {
        worker.inertia.add(distance);
        ++worker.counts[static_cast<std::size_t>(labels[i])];
        if (squared_distances != nullptr) squared_distances[i] = distance;
      });
    });
  }

  // All iterations; false when the observer ended them.
  bool iterate(const FitSpec& spec, Observer* observer, std::int32_t* labels,
               Clock::time_point start, FitResult& result) {
    const bool profile = spec.profile != 0;
    // Integer sums are added block by block while the rows are in cache; compensated ones depend on
    // the order of the rows and wait for a pass of their own, as does a profiled update.
    const bool fused = plan_.is_integer() && !profile;
    if (profile) result.phases = {0, 0, 0, 0};
    // No labels yet, and nothing is summed.
    bool sums_are_of_labels = true;
    sums_->clear();
    for (;;) {
      const Clock::time_point assigning = Clock::now();
      const Accumulate accumulate = !fused                                  ? Accumulate::nothing
                                    : TellsChanges<S> && sums_are_of_labels ? Accumulate::changes
                                                                            : Accumulate::sums;
      if (!assign_all(labels, accumulate)) return false;
      result.distances += pass_distances();
      const Clock::time_point updating = Clock::now();
      if (!fused && !accumulate_all(labels)) return false;
      std::int64_t changed = 0;
      for (const Worker& worker : workers_) changed += worker.changed;
      ClusterSums& sums = *sums_;
      if (accumulate != Accumulate::changes && plan_.is_integer()) sums.clear();
      merge_workers();
      const std::int64_t relocated = handle_empty(spec, labels, sums, result.iterations + 1);
      if (relocated < 0) return false;
      sums_are_of_labels = relocated == 0;
      std::vector<double> next = next_centroids(sums, centroids_, dataset_.features);
      const Clock::time_point checking = Clock::now();
      IterationRecord record;
      record.shift = squared_shift(centroids_, next);
      if (observer != nullptr && (spec.observe & kObserveInertia) != 0) {
        ExactSum inertia;
        if (!sum_inertia(labels, inertia)) return false;
        record.inertia = inertia.value();
      }
      centroids_.swap(next);
      result.relocations += relocated;
      record.iteration = ++result.iterations;
      record.changed = changed;
      record.relocations = relocated;
      result.stop_reason = stop_reason(spec, record);
      if (profile) {
        const double transfer = step_.transfer_ms();
        result.phases.transfer_ms += transfer;
        result.phases.assignment_ms += milliseconds(updating - assigning) - transfer;
        result.phases.update_ms += milliseconds(checking - updating);
        result.phases.convergence_ms += milliseconds(Clock::now() - checking);
      }
      if (observer != nullptr && spec.observe != 0) {
        record.elapsed_ms = milliseconds_since(start);
        if ((spec.observe & kObserveLabels) != 0) record.labels = labels;
        if ((spec.observe & kObserveCentroids) != 0) record.centroids = centroids_.data();
        if (!observer->on_iteration(record)) return false;
      }
      if (result.stop_reason != StopReason::none) return true;
    }
  }

  // Of the last pass over all samples.
  std::int64_t pass_distances() {
    if constexpr (KeepsBounds<S>) {
      return step_.take_distances();
    } else {
      return dataset_.samples * clusters_;
    }
  }

  static double milliseconds(Clock::duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
  }

  // The update's sums where they are not fused with the assignment.
  bool accumulate_all(const std::int32_t* labels) {
    if (plan_.is_integer()) {
      return for_each_block(all_rows(), [&](Worker& worker, RowRange block) {
        add_block(worker.sums, block, labels + block.begin);
      });
    }
    sums_->clear();
    add_block(*sums_, all_rows(), labels);
    return true;
  }

  void merge_workers() {
    if (!plan_.is_integer()) return;
    for (Worker& worker : workers_) {
      if (worker.used) sums_->merge(worker.sums);
    }
  }

  // Applies the policy to clusters without samples. Returns how many were moved; -1 when the
  // observer asked to stop.
  std::int64_t handle_empty(const FitSpec& spec, std::int32_t* labels, ClusterSums& sums,
                            std::int64_t iteration) {
    const std::vector<std::int32_t> empty = empty_clusters(sums);
    if (empty.empty() || spec.empty_clusters == EmptyClusters::keep) return 0;
    if (spec.empty_clusters == EmptyClusters::error) throw_empty_cluster(empty.front(), iteration);

    if constexpr (DefersLabels<S>) step_.write_labels(labels);
    for (Worker& worker : workers_) worker.farthest = FarthestSamples(clusters_);
    if (!for_each_block(all_rows(), [&](Worker& worker, RowRange block) {
          for_each_own_distance(block, labels, [&](std::int64_t i, double distance) {
            worker.farthest.add({i, distance, labels[i], 0});
          });
        })) {
      return -1;
    }
    FarthestSamples farthest(clusters_);
    for (Worker& worker : workers_) farthest.add(worker.farthest);

    const std::vector<Relocation> moves = choose_relocations(empty, farthest.sorted(), sums);
    if (plan_.is_integer()) {
      for (const auto& [sample, to] : moves) sums.move(row(sample.row), sample.label, to);
    } else {
      // Taking a large value out of a compensated sum would lose the small ones: sum again.
      for (const auto& [sample, to] : moves) labels[sample.row] = to;
      sums.clear();
      add_block(sums, all_rows(), labels);
      for (const auto& [sample, to] : moves) labels[sample.row] = sample.label;
    }
    return static_cast<std::int64_t>(moves.size());
  }

  bool sum_inertia(const std::int32_t* labels, ExactSum& inertia) {
    for (Worker& worker : workers_) worker.inertia = {};
    const bool finished = for_each_block(all_rows(), [&](Worker& worker, RowRange block) {
      for_each_own_distance(block, labels,
                            [&](std::int64_t, double distance) { worker.inertia.add(distance); });
    });
    for (const Worker& worker : workers_) inertia.add(worker.inertia);
    return finished;
  }

  // The closing assignment: labels, counts and inertia of the centroids that are returned.
  bool close(std::int32_t* labels, FitResult& result) {
    if (!assign_all(labels, Accumulate::counts_and_inertia)) return false;
    result.distances += pass_distances();
    publish(result.labels != nullptr, result.counts, result.inertia, result.valid);
    return true;
  }

  void publish(bool labels_wanted, std::int64_t* counts, double& inertia, std::uint32_t& valid) {
    ExactSum sum;
    for (const Worker& worker : workers_) sum.add(worker.inertia);
    inertia = sum.value();
    valid = kValidInertia | (labels_wanted ? kValidLabels : 0u);
    if (counts == nullptr) return;
    std::fill_n(counts, clusters_, 0);
    for (const Worker& worker : workers_) {
      for (std::int64_t c = 0; c < clusters_; ++c) {
        counts[c] += worker.counts[static_cast<std::size_t>(c)];
      }
    }
    valid |= kValidCounts;
  }

  S& step_;
  DatasetView dataset_;
  SumPlan plan_;
  std::int64_t clusters_ = 0;
  std::vector<double> centroids_;
  std::vector<std::int32_t> own_labels_;
  std::vector<Worker> workers_;
  std::optional<ClusterSums> sums_;  ///< of all workers
  Observer* observer_ = nullptr;
  std::atomic<bool> stopped_{false};
};

}  // namespace lloyd
