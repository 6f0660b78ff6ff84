// Step: the part of a backend that its author writes for LloydLoop.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/sdk/label_change_sums.hpp>

namespace lloyd {

/// Options of all passes of a fit.
struct StepFitOptions {
  /// Phases are measured: the step may run slower in order to time copies separately, see
  /// StepBase::transfer_ms().
  bool profile = false;
  /// LloydLoop reads labels only after write_labels() and after passes without
  /// StepPassOptions::reports_changes; a step with DefersLabels may leave them unwritten in passes
  /// with it.
  bool defer_labels = false;
};

/// Options of one pass.
struct StepPassOptions {
  /// True: the pass covers all rows and calls assign(block, labels, changes). False: it calls
  /// assign(block, labels). Only set for steps with ReportsLabelChanges.
  bool reports_changes = false;
};

namespace detail {

// The body of for_each_block() in the concept Step. nvcc refuses a lambda there.
struct BlockBody {
  bool operator()(int, RowRange) const { return true; }
};

}  // namespace detail

/// The assignment of a backend that leaves everything else to LloydLoop. Its calls:
///
///     begin_fit, { begin_pass, for_each_block { assign }... }..., end_fit      of a fit
///     begin_pass, for_each_block { assign }                                    of other requests
///
/// All but `assign` and the bodies of for_each_block() are called on the thread of the fit or
/// request, one at a time.
///
/// - `begin_fit(options)`: the passes up to `end_fit` belong to one fit. They cover all rows, have
///   the same number of clusters, and pass to `assign` the labels of the previous pass (-1 in the
///   first). May throw.
/// - `end_fit()`: the fit has ended, was cancelled or failed. Called once for each begin_fit(),
///   even if that threw. Must not throw.
/// - `begin_pass(centroids, clusters, options)`: the k x d float64 centroids of the next pass; they
///   are valid and unchanged until its blocks are done. Outside of a fit, a pass must not rely on
///   anything from earlier passes. May throw.
/// - `for_each_block(rows, body)`: calls body(worker, block) for blocks that cover `rows`, worker
///   in [0, workers()), possibly by several threads at once; see StepBase::for_each_block(). The
///   first one after begin_pass() (with row windows: one call per window) is the assignment: its
///   body calls `assign` once for each block. Later calls up to the next begin_pass() have bodies
///   that do not call `assign`. May throw, but only on the calling thread and after all bodies have
///   returned.
/// - `assign(block, labels)`: labels the rows of a block. `labels[0]` belongs to row `block.begin`;
///   in: the previous labels (-1: none), out: the new ones. Returns the number of labels that
///   changed; a label that replaces -1 counts, so in the first pass of a fit the return values must
///   sum to n, or the fit fails. Called by the workers, several at once. If calls throw, the fit or
///   request ends with the first of the exceptions; the step must be able to serve the next one.
/// - `workers()`: at least 1; does not change.
/// - `transfer_ms()`: see StepBase.
template <class S>
concept Step = requires(S& step, const double* centroids, std::int64_t clusters, RowRange block,
                        std::int32_t* labels, detail::BlockBody body) {
  typename S::value_type;
  step.begin_fit(StepFitOptions{});
  step.end_fit();
  step.begin_pass(centroids, clusters, StepPassOptions{});
  { step.assign(block, labels) } -> std::same_as<std::int64_t>;
  { step.workers() } -> std::convertible_to<int>;
  step.for_each_block(block, body);
  { step.transfer_ms() } -> std::convertible_to<double>;
};

/// A step that reports which labels of a block changed: `assign(block, labels, changes)` also calls
/// changes.add() once for each row whose label changes (from -1 if it had none), before it returns.
/// The rows may be added in any order, one by one or several at a time: the sums are exact. It
/// replaces `assign(block, labels)` in passes with StepPassOptions::reports_changes; LloydLoop
/// updates sums by the changes.
template <class S>
concept ReportsLabelChanges = requires(S& step, RowRange block, std::int32_t* labels,
                                       LabelChangeSums<typename S::value_type>& changes) {
  { step.assign(block, labels, changes) } -> std::same_as<std::int64_t>;
};

/// A step with its own kernels for the sums: `sum_kernels()`, callable at any time, by any thread.
template <class S>
concept HasSumKernels = requires(const S& step) {
  { step.sum_kernels() } -> std::same_as<SumKernels<typename S::value_type>>;
};

/// A step that screens: `take_exact_fallbacks()` returns the number of labels that the definition
/// decided since begin_fit() or the last call, over all blocks. Called on the thread of the fit
/// after each pass of a fit, so the counters may also be cleared in begin_pass().
template <class S>
concept CountsExactFallbacks = requires(S& step) {
  { step.take_exact_fallbacks() } -> std::same_as<std::int64_t>;
};

/// A step that prunes distance computations with bounds that it keeps from one pass of a fit to the
/// next. `take_distances()` returns the number of distances computed since begin_fit() or the last
/// call. Called at the same times as take_exact_fallbacks().
template <class S>
concept KeepsBounds = requires(S& step) {
  { step.take_distances() } -> std::same_as<std::int64_t>;
};

/// A step that may label rows in any order, and leave labels unwritten until they are read. In a
/// pass with StepPassOptions::reports_changes, `labels` points into the array of the labels of all
/// rows (row 0 is at labels - block.begin), and `assign` may label and report rows outside the
/// block, as long as the pass labels each row of the data set once. In a fit with
/// StepFitOptions::defer_labels it need not write labels in such passes; `write_labels(labels)`
/// then writes the labels of all rows (n) as of the previous pass. A pass without `changes` writes
/// labels as usual. write_labels() is called between passes and must not throw.
template <class S>
concept DefersLabels = requires(S& step, std::int32_t* labels) {
  step.write_labels(labels);
};

/// A step that can run on rows delivered window by window (WindowedPasses): `use_samples(data,
/// window)` is called after begin_pass(), before the blocks of each window. From then on row i of
/// the window starts at static_cast<const T*>(data) + i * stride (T: value_type); other rows must
/// not be read. `data` itself may point outside of any array. `assign` may only read the rows of
/// its block. `for_each_block` is called with windows instead of all rows, so the assignment of a
/// pass takes several calls.
///
/// A step of such a session is constructed from a DatasetView whose `data` is null. The SDK then
/// never calls write_labels(), and never queries SeedingKernels; a step with DefersLabels labels
/// the rows of its block only. A backend of such steps declares kCapabilityRowWindows.
template <class S>
concept ReadsRowWindows = requires(S& step, const void* data, RowRange window) {
  step.use_samples(data, window);
};

/// Base of a step: one worker, consecutive blocks of rows, no state between passes, no limits, no
/// additional memory. A step overrides by declaring members of the same names.
struct StepBase {
  /// Rows of a block.
  static constexpr std::int64_t kBlockRows = 4096;

  /// Lists the devices that the step can use, or returns `unavailable` with the reason; does not
  /// touch data. The default: the CPU, as the only device.
  static Status probe(DeviceList* devices) {
    devices->count = 1;
    devices->devices[0] = {};
    std::snprintf(devices->devices[0].name, sizeof(devices->devices[0].name), "CPU");
    return {};
  }
  /// Checks the limits of the backend: ok, or `unsupported` with the limit in numbers in the
  /// message. StepSession::fit() calls it and fails with its status unless it is ok.
  static Status supports(const ProblemShape&, const ParameterList&, const FitSpec&) { return {}; }
  /// Bytes of host memory that the step allocates.
  static std::int64_t estimate_bytes(const ProblemShape&, const ParameterList&) { return 0; }
  /// Bytes of device memory that the step allocates.
  static std::int64_t estimate_device_bytes(const ProblemShape&, const ParameterList&) { return 0; }
  /// Number of workers that a step with these parameters will have. Called before a step exists,
  /// for the memory estimate.
  static int estimate_workers(const ParameterList&) { return 1; }

  /// An optional interface of the session, such as SeedingKernels; it lives as long as the step.
  /// Null if there is none of that name. Must not throw.
  void* query(std::string_view) { return nullptr; }

  /// Number of workers that for_each_block() uses.
  int workers() const { return 1; }

  /// Step::begin_fit, for steps that keep nothing between passes.
  void begin_fit(const StepFitOptions&) {}
  /// Step::end_fit.
  void end_fit() {}

  /// In a profiled fit: the wall time of the last assignment spent on copies between host and
  /// device, milliseconds. Called between passes.
  double transfer_ms() const { return 0; }

  /// Calls body(worker, block) for blocks that cover `rows`, worker in [0, workers()). The body
  /// returns false to stop: the remaining blocks may then be skipped. It may be called with an
  /// empty block: a worker that is waiting uses this to poll for cancellation.
  template <class Body>
  void for_each_block(RowRange rows, Body&& body) const {
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += kBlockRows) {
      body(0, RowRange{begin, std::min(begin + kBlockRows, rows.end)});
    }
  }
};

/// Capabilities of every StepBackend, for BackendInfo::capabilities.
inline constexpr std::uint64_t kStepCapabilities =
    kCapabilityFloat32 | kCapabilityFloat64 | kCapabilityStrided | kCapabilityHostMemory;

/// A step that labels one sample at a time: `Derived` has a member `std::int32_t label(const T* x)
/// const`, which gives the nearest of the centroids to a sample of `dataset.features` values.
template <class Derived, class T>
struct RowStep : StepBase {
  using value_type = T;  ///< of the samples: float or double

  /// What `view` points to must outlive the step.
  RowStep(const DatasetView& view, const ParameterList&) : dataset(view) {}

  /// Step::begin_pass: keeps the pointer.
  void begin_pass(const double* values, std::int64_t count, const StepPassOptions&) {
    centroids = values;
    clusters = count;
  }

  /// ReadsRowWindows: keeps the pointer. The BackendInfo of a derived step whose constructor reads
  /// samples, or that keeps pointers to them, must not have kCapabilityRowWindows.
  void use_samples(const void* data, RowRange) { dataset.data = data; }

  /// Step::assign, a sample at a time.
  std::int64_t assign(RowRange block, std::int32_t* labels) const {
    std::int64_t changed = 0;
    for (std::int64_t i = block.begin; i < block.end; ++i, ++labels) {
      const T* x = static_cast<const T*>(dataset.data) + i * dataset.stride;
      const std::int32_t label = static_cast<const Derived&>(*this).label(x);
      changed += label != *labels;
      *labels = label;
    }
    return changed;
  }

  DatasetView dataset;                ///< the samples
  const double* centroids = nullptr;  ///< clusters x features, row-major
  std::int64_t clusters = 0;          ///< k
};

}  // namespace lloyd
