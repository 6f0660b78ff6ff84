// drive_fit: the loop of a fit. A session implements the passes over the samples.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/requests.hpp>
#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/plugin/sdk/iteration_rules.hpp>

namespace lloyd {

/// Passes over the samples that relocate empty clusters. Methods are called on the thread that
/// called relocate_empty_clusters(). They throw StatusError, with StatusCode::cancelled if the
/// observer requested to stop.
class RelocationPasses {
 public:
  /// The `wanted` samples that are farthest from the centroid of their label, with labels and
  /// centroids of the last assignment; fewer if fewer have a distance > 0. Sorted by descending
  /// distance, then row.
  virtual std::vector<FarSample> find_farthest(std::int64_t wanted) = 0;
  /// Subtracts a sample from the sums of its cluster and adds it to those of another. Only called
  /// for integer sums.
  virtual void move_sample(const Relocation& relocation, ClusterSums& sums) = 0;
  /// Clears the sums and adds all samples in the order of their rows, each to the cluster of its
  /// label, except that relocated samples go to Relocation::to. Leaves the labels unchanged. Only
  /// called for compensated sums.
  virtual void recompute_sums(const std::vector<Relocation>& relocations, ClusterSums& sums) = 0;

 protected:
  ~RelocationPasses() = default;
};

/// Applies FitSpec::empty_clusters to `sums`, the sums of the last assignment. Returns the number
/// of relocated clusters. Throws StatusCode::empty_cluster if a cluster is empty and the policy is
/// `error`; the message names `iteration` (1, 2, ...).
inline std::int64_t relocate_empty_clusters(const FitSpec& spec, std::int64_t iteration,
                                            ClusterSums& sums, RelocationPasses& passes) {
  if (spec.empty_clusters == EmptyClusters::keep) return 0;
  const std::vector<std::int32_t> empty = find_empty_clusters(sums);
  if (empty.empty()) return 0;
  if (spec.empty_clusters == EmptyClusters::error) throw_empty_cluster(empty.front(), iteration);
  const std::vector<Relocation> relocations =
      choose_relocations(empty, passes.find_farthest(spec.clusters), sums);
  if (relocations.empty()) return 0;
  if (sums.is_integer()) {
    for (const Relocation& relocation : relocations) passes.move_sample(relocation, sums);
  } else {
    // Taking a large value out of a compensated sum would lose the small ones.
    passes.recompute_sums(relocations, sums);
  }
  return static_cast<std::int64_t>(relocations.size());
}

/// Ends iteration number `iteration` (1, 2, ...) on the host: relocate_empty_clusters(), whose
/// result it returns, then move_to_means(). `features`: d; `from`, `to`: k x d. Throws what the
/// former throws, with `to` unchanged.
inline std::int64_t move_centroids(const FitSpec& spec, std::int64_t iteration, ClusterSums& sums,
                                   RelocationPasses& passes, std::int64_t features,
                                   const std::vector<double>& from, std::vector<double>& to) {
  const std::int64_t relocations = relocate_empty_clusters(spec, iteration, sums, passes);
  move_to_means(sums, features, from, to);
  return relocations;
}

/// Calls body() with the relocated samples labelled by their new clusters, then restores the
/// labels.
template <class Body>
void with_relocated_labels(const std::vector<Relocation>& relocations, std::int32_t* labels,
                           Body&& body) {
  for (const auto& [sample, to] : relocations) labels[sample.row] = to;
  body();
  for (const auto& [sample, to] : relocations) labels[sample.row] = sample.label;
}

/// The result of FitPasses::update().
struct FinishedIterations {
  /// Number of finished iterations. More than 1 only if the fit is neither observed nor profiled.
  std::int64_t iterations = 1;
  std::int64_t changed = 0;  ///< labels that the last of them changed
  /// Empty clusters that the last of them moved. Only the last finished iteration may relocate.
  std::int64_t relocations = 0;
};

/// The passes over the samples that make up a fit. drive_fit() calls them in this order ([...]:
/// only if requested; transfer_ms() after squared_shift() in a profiled fit):
///
///     begin, { assign, [inertia], update, squared_shift, [labels], [centroids] } ..., close,
///     centroids, report
///
/// all on the thread of the caller. Methods throw StatusError. After the observer requests to stop,
/// a method throws StatusCode::cancelled; the current centroids must then be those of the last
/// finished iteration, and drive_fit() continues with `centroids` and `report`.
class FitPasses {
 public:
  /// Makes the initial centroids the current ones and discards all labels. Its time counts towards
  /// FitResult::loop_ms.
  virtual void begin() {}
  /// Labels all samples by the current centroids. May return before a device has finished.
  virtual void assign() = 0;
  /// Inertia of the labels of assign() and the current centroids; called if the observer requests
  /// it.
  virtual double inertia() = 0;
  /// Finishes iteration number `iteration` (1, 2, ...): sums the samples by the labels of assign(),
  /// relocates empty clusters, and makes the means the current centroids. A device that iterates
  /// without the host may also finish later iterations, at most up to the one at which a stop rule
  /// applies. If it is cancelled after at least one iteration has finished, it returns the finished
  /// ones and throws in the next call.
  virtual FinishedIterations update(std::int64_t iteration) = 0;
  /// Sum of the squared centroid shifts of the last finished iteration, as lloyd::squared_shift()
  /// defines it. May be 0 if neither an observer nor a tolerance uses it.
  virtual double squared_shift() = 0;
  /// Labels of the last finished iteration (n, host memory), valid until the next assign(),
  /// update() or close().
  virtual const std::int32_t* labels() = 0;
  /// The current centroids (k x d, host memory), valid until the next update().
  virtual std::span<const double> centroids() = 0;
  /// The closing assignment: labels, counts and inertia of the current centroids, those that
  /// `result` requests, with their bits in `result.valid`.
  virtual void close(FitResult& result) = 0;
  /// In a profiled fit: the part of the last assign() spent on copies between host and device,
  /// milliseconds.
  virtual double transfer_ms() { return 0; }
  /// Completes `result` when the fit has ended or was cancelled: the number of distances of the
  /// finished passes, the exact fallbacks, and phase times that only the device can measure. For a
  /// cancelled fit, a device that counts distances may include passes after the last finished one.
  virtual void report(FitResult& result) = 0;

 protected:
  ~FitPasses() = default;
};

/// Passes with the update on the host, which computes the means from the sums of all samples.
///
/// update() checks the number of changed labels, at no cost. Sums are exact or summed in a fixed
/// order: if no label changed, and neither this update nor the previous one relocated a cluster,
/// the new means must equal the current centroids bit for bit. If they differ, the reported number
/// of changes is wrong and the fit would stop too early.
class HostFitPasses : public FitPasses, public RelocationPasses {
 public:
  FinishedIterations update(std::int64_t iteration) final {
    ClusterSums& sums = sum_labels();
    FinishedIterations finished;
    finished.changed = changed();
    finished.relocations =
        move_centroids(spec_, iteration, sums, *this, features_, centroids_, former_centroids_);
    std::swap(centroids_, former_centroids_);
    check_new_centroids();
    is_fixed_point_ = has_means_ && finished.changed == 0 && finished.relocations == 0;
    has_means_ = finished.relocations == 0;
    if (is_fixed_point_ && centroids_ != former_centroids_) fail_moved(iteration);
    return finished;
  }
  double squared_shift() final {
    return needs_shift(spec_) ? lloyd::squared_shift(former_centroids_, centroids_) : 0;
  }
  std::span<const double> centroids() final { return centroids_; }

 protected:
  /// `spec` must outlive the passes. `features`: d.
  HostFitPasses(const FitSpec& spec, std::int64_t features)
      : spec_(spec),
        features_(features),
        centroids_(spec.initial_centroids, spec.initial_centroids + spec.clusters * features),
        former_centroids_(centroids_.size()) {}
  ~HostFitPasses() = default;

  /// Cluster sums and counts for the labels of assign(): exact, or compensated in row order. Valid
  /// until the next assign(). update() modifies them to relocate samples.
  virtual ClusterSums& sum_labels() = 0;
  /// Number of labels that assign() changed.
  virtual std::int64_t changed() const = 0;
  /// Called by update() once centroids() are the new means. Throws StatusError if they are invalid.
  virtual void check_new_centroids() {}
  /// Throws StatusError. Distributed passes override it, because all ranks fail here with the same
  /// status.
  [[noreturn]] virtual void fail(const Status& status) { throw StatusError(status); }
  /// True if the last iteration changed no label and no centroid: another assignment would give the
  /// same labels.
  bool is_fixed_point() const { return is_fixed_point_; }

 private:
  void fail_moved(std::int64_t iteration) {
    const auto moved =
        std::mismatch(centroids_.begin(), centroids_.end(), former_centroids_.begin()).first;
    const std::int64_t cluster = (moved - centroids_.begin()) / features_;
    const std::string text =
        "0 changed labels are reported in iteration " + std::to_string(iteration) +
        ", but the mean of cluster " + std::to_string(cluster) +
        " is not that of the iteration before; the number of changed labels is wrong";
    fail(Status::error(StatusCode::internal, text.c_str()));
  }

  const FitSpec& spec_;
  std::int64_t features_;
  std::vector<double> centroids_, former_centroids_;  // k x d
  bool has_means_ = false;       // the centroids are the means of the last labels
  bool is_fixed_point_ = false;  // after the last iteration
};

namespace fit_driver_detail {

using Clock = std::chrono::steady_clock;

inline double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

/// Runs all iterations.
inline void iterate(const FitSpec& spec, Observer* observer, FitPasses& passes,
                    Clock::time_point start, FitResult& result) {
  const std::uint32_t observe = observer != nullptr ? spec.observe : 0;
  passes.begin();
  do {
    IterationRecord record;
    const Clock::time_point assigning = Clock::now();
    passes.assign();
    const Clock::time_point assigned = Clock::now();
    if ((observe & kObserveInertia) != 0) record.inertia = passes.inertia();
    const Clock::time_point updating = Clock::now();
    const FinishedIterations finished = passes.update(result.iterations + 1);
    const Clock::time_point updated = Clock::now();
    result.iterations += finished.iterations;
    result.relocations += finished.relocations;
    record.iteration = result.iterations;
    record.changed = finished.changed;
    record.relocations = finished.relocations;
    record.shift = passes.squared_shift();
    result.stop_reason = stop_reason(spec, record);
    if (spec.profile != 0) {
      const double transfer = passes.transfer_ms();
      result.phases.transfer_ms += transfer;
      result.phases.assignment_ms += milliseconds(assigned - assigning) - transfer;
      result.phases.update_ms += milliseconds(updated - updating);
      result.phases.convergence_ms +=
          milliseconds(updating - assigned) + milliseconds(Clock::now() - updated);
    }
    if (observe != 0) {
      if ((observe & kObserveLabels) != 0) record.labels = passes.labels();
      if ((observe & kObserveCentroids) != 0) record.centroids = passes.centroids().data();
      record.elapsed_ms = milliseconds(Clock::now() - start);
      if (!observer->on_iteration(record)) throw_cancelled();
    }
  } while (result.stop_reason == StopReason::none);
}

/// Runs `body`; returns the exception that cancelled it, or null.
template <class Body>
std::exception_ptr cancellation_of(Body&& body) {
  try {
    body();
  } catch (const StatusError& error) {
    if (error.status().code != StatusCode::cancelled) throw;
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace fit_driver_detail

/// Runs a fit over `passes`: iterates until a stop rule holds or the observer cancels, reports the
/// iterations, makes the closing assignment and measures times. Fills in `result`, except
/// `sum_form` and the fields that FitPasses fills in. Throws what the passes throw. A cancelled fit
/// throws after `result` has the centroids of the last finished iteration and the output of
/// FitPasses::report().
///
/// Its decisions depend only on return values of the passes and of the observer. So the processes
/// of a distributed fit can each run it over passes that return the same values.
/// Source: S. P. Lloyd, "Least squares quantization in PCM", 1982.
inline void drive_fit(const FitSpec& spec, Observer* observer, FitPasses& passes,
                      FitResult& result) {
  using namespace fit_driver_detail;
  result.valid = 0;
  result.iterations = result.relocations = result.distances = 0;
  result.phases = {};
  if (spec.profile != 0) result.phases = {0, 0, 0, 0};

  const Clock::time_point start = Clock::now();
  std::exception_ptr cancelled =
      cancellation_of([&] { iterate(spec, observer, passes, start, result); });
  const Clock::time_point closing = Clock::now();
  result.loop_ms = milliseconds(closing - start);
  if (!cancelled) cancelled = cancellation_of([&] { passes.close(result); });
  result.closing_ms = milliseconds(Clock::now() - closing);
  if (cancelled) {
    result.valid = 0;
    result.stop_reason = StopReason::cancelled;
  }
  if (result.centroids != nullptr) {
    const std::span<const double> centroids = passes.centroids();
    std::copy(centroids.begin(), centroids.end(), result.centroids);
    result.valid |= kValidCentroids;
  }
  passes.report(result);
  if (cancelled) std::rethrow_exception(cancelled);
}

}  // namespace lloyd
