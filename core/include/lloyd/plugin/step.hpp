// What a backend author writes for LloydLoop: a Step.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string_view>

#include <lloyd/plugin/backend.hpp>
#include <lloyd/plugin/label_changes.hpp>

namespace lloyd {

/// The assignment of a backend that leaves everything else to LloydLoop.
///
/// `set_centroids` comes before each pass, on the thread of the fit; the k x d float64 centroids
/// stay valid until the next one. `assign` labels the rows of a block: `labels` holds the former
/// labels of the block's rows (-1: none) and takes the new ones; it returns how many changed. It
/// must not throw, and is called by several workers at once where the step runs its blocks so.
/// The first `for_each_block` after `set_centroids` assigns each of its blocks once; those that
/// follow, up to the next `set_centroids`, assign nothing.
template <class S>
concept Step = requires(S& step, const double* centroids, std::int64_t clusters, RowRange block,
                        std::int32_t* labels) {
  typename S::value_type;
  step.set_centroids(centroids, clusters);
  { step.assign(block, labels) } -> std::same_as<std::int64_t>;
  { step.workers() } -> std::convertible_to<int>;
  step.for_each_block(block, [](int, RowRange) { return true; });
  step.profile(true);
  { step.transfer_ms() } -> std::convertible_to<double>;
};

/// A step that tells which labels of a block changed: `assign(block, labels, changes)` is `assign`
/// that also calls changes.add(row, from, to) once for each row whose label becomes another one,
/// from -1 where it had none, or changes.add() for many of them, before it returns. It is called
/// instead of the other one where sums are wanted.
template <class S>
concept TellsChanges = requires(S& step, RowRange block, std::int32_t* labels,
                                LabelChanges<typename S::value_type>& changes) {
  { step.assign(block, labels, changes) } -> std::same_as<std::int64_t>;
};

/// A step with loops of its own for sums: `sum_kernels()`.
template <class S>
concept HasSumKernels = requires(const S& step) {
  { step.sum_kernels() } -> std::same_as<SumKernels<typename S::value_type>>;
};

/// A step that screens: `take_exact_fallbacks()` returns how many labels the definition had to
/// decide since it was called last, in all blocks.
template <class S>
concept Screens = requires(S& step) {
  { step.take_exact_fallbacks() } -> std::same_as<std::int64_t>;
};

/// A step that leaves distances out by what it keeps from one pass to the next: `keep_bounds(true)`
/// says that the passes to come, until it is called again, belong to one fit; then `labels` in
/// `assign` are those that it gave in the pass before. `keep_bounds(false)` says that they do not.
/// It may throw. `take_distances()` returns how many distances were computed since it was called
/// last.
template <class S>
concept KeepsBounds = requires(S& step) {
  step.keep_bounds(true);
  { step.take_distances() } -> std::same_as<std::int64_t>;
};

/// A step that may label rows in another order than theirs, and leave labels unwritten where nobody
/// reads them. Before each pass over all rows, and before `set_centroids`, `expect_changes(told)`
/// says whether it will be by `assign` with changes. In such a pass `labels` are within those of
/// all rows, and a block may be taken for other rows, and tell of these, as long as each row of the
/// data set is labelled once. After `defer_labels(true)`, which like `keep_bounds(true)` comes
/// before a fit, labels that such passes give need not be written until `write_labels(labels)` asks
/// for those of all rows; a pass without changes may find others.
template <class S>
concept DefersLabels = requires(S& step, std::int32_t* labels) {
  step.expect_changes(true);
  step.defer_labels(true);
  step.write_labels(labels);
};

/// Base of a step: one worker, blocks of rows one after another, no limits, no memory of its own. A
/// step declares members of the same names to differ.
struct StepBase {
  /// Rows of a block.
  static constexpr std::int64_t kBlockRows = 4096;

  /// Limits of the backend; a status other than ok gives the reason.
  static Status supports(const ProblemShape&, const ParameterList&, const FitSpec&) { return {}; }
  /// Bytes of host memory the step holds itself, for given k.
  static std::int64_t estimate_bytes(const ProblemShape&, const ParameterList&) { return 0; }
  /// How many workers for_each_block() uses.
  static int estimate_workers(const ParameterList&) { return 1; }

  /// An interface that the session offers beside its own, such as SeedingKernels; it lives as long
  /// as the step. Null: none of that name. Must not throw.
  void* query(std::string_view) { return nullptr; }

  /// Workers that for_each_block() calls its body with.
  int workers() const { return 1; }

  /// Whether the passes to come belong to a profiled fit, which may run slower.
  void profile(bool) {}
  /// In a profiled fit: the part of the last assignment's wall time in milliseconds that went into
  /// copies between host and device.
  double transfer_ms() const { return 0; }

  /// Calls body(worker, block) for blocks that cover `rows`, worker in [0, workers()). The body
  /// returns whether to go on: after false the other blocks may be left out. It may also be asked
  /// with an empty block, by a step that waits.
  template <class Body>
  void for_each_block(RowRange rows, Body&& body) const {
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += kBlockRows) {
      body(0, RowRange{begin, std::min(begin + kBlockRows, rows.end)});
    }
  }
};

/// Capabilities of every backend that is made of steps, for BackendInfo::capabilities.
inline constexpr std::uint64_t kStepCapabilities =
    kCapabilityFloat32 | kCapabilityFloat64 | kCapabilityStrided | kCapabilityHostMemory;

/// A step that labels one sample at a time: `Derived` has a member `std::int32_t label(const T* x)
/// const`, which gives the nearest of the centroids to a sample of `dataset.features` values.
template <class Derived, class T>
struct RowStep : StepBase {
  using value_type = T;  ///< of the samples: float or double

  /// What `view` points to must outlive the step.
  RowStep(const DatasetView& view, const ParameterList&) : dataset(view) {}

  /// Step::set_centroids: keeps the pointer.
  void set_centroids(const double* values, std::int64_t count) {
    centroids = values;
    clusters = count;
  }

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
