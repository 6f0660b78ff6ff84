// Step: the interface that a CUDA backend implements, which assigns samples and sums clusters on
// the device. Pass: the arguments of one assignment.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>

#include <lloyd/plugin/abi/dataset_view.hpp>

#include "cuda/passes/cluster_sums.hpp"
#include "cuda/passes/finish_pass.hpp"
#include "cuda/passes/phase_timer.hpp"
#include "cuda/passes/samples.hpp"

namespace lloyd_cuda {

/// Arguments of one assignment of a range of rows. Pointers are device memory.
struct Pass {
  lloyd::RowRange rows;               ///< of the data set
  std::int64_t clusters = 0;          ///< k
  const double* centroids = nullptr;  ///< k x d
  const float* rounded = nullptr;     ///< k x d, in float32; null for float64 samples
  /// Centroids of the previous iteration (k x d) if this pass continues it, else null.
  const double* former_centroids = nullptr;
  bool in_float64 = false;         ///< true: outside of lloyd::Float32Range, compute in float64
  std::int32_t* labels = nullptr;  ///< n; in: former labels (-1: none), out: new labels
  /// The number of changed labels is added to it. Null: neither labels nor changes are needed, and
  /// `labels` need not be written.
  unsigned long long* changed = nullptr;
  Totals totals;  ///< sums to add to; null members: no sums
  /// True: `totals` holds the sums for the former labels; the pass subtracts each sample whose
  /// label changes from its former cluster and adds it to the new one. False: the pass adds all
  /// samples.
  bool sums_only_changes = false;
  SumScale scale;                      ///< conversion of values to integers for `totals`
  const std::int32_t* halt = nullptr;  ///< kernels return immediately if it is not 0
  cudaStream_t stream = nullptr;       ///< the stream of all work
  PhaseTimer* phases = nullptr;        ///< phase timer; null: not profiled

  /// Marks the beginning of a phase, if the fit is profiled.
  void begin_phase(Phase phase) const {
    if (phases != nullptr) phases->begin(phase, stream);
  }
  LLOYD_HOST_DEVICE bool accumulates() const { return totals.sums != nullptr; }
  bool operator==(const Pass& other) const {
    return rows.begin == other.rows.begin && rows.end == other.rows.end &&
           clusters == other.clusters && centroids == other.centroids && rounded == other.rounded &&
           former_centroids == other.former_centroids && in_float64 == other.in_float64 &&
           labels == other.labels && changed == other.changed && totals == other.totals &&
           sums_only_changes == other.sums_only_changes && scale == other.scale &&
           halt == other.halt && stream == other.stream && phases == other.phases;
  }
};

/// What the kernels of an iteration are given. Once Step::repeats() is true, iterations with equal
/// arguments enqueue the same work.
struct IterationArguments {
  Pass pass;
  Finish finish;
  bool operator==(const IterationArguments&) const = default;
};

/// Assignment and sums of a backend over its samples, resident or streamed. Serves one thread.
template <class T>
class Step {
 public:
  virtual ~Step() = default;

  /// Polled by steps that wait for the device while they enqueue a pass: once it returns true, the
  /// pass is cancelled and its kernels return immediately.
  using CancelRequested = std::function<bool()>;
  /// A CancelRequested that always returns false.
  static bool never_cancelled() { return false; }
  /// Called before the passes of a fit or a request; `clusters` may differ from the last call.
  /// `cancel_requested` stays valid until the next call.
  virtual void prepare(std::int64_t clusters, const CancelRequested& cancel_requested) = 0;
  /// Enqueues one pass.
  virtual void assign(const Pass& pass) = 0;
  /// Enqueues one pass, whose last kernel also finishes the iteration: finish_iteration(). Returns
  /// false, without enqueueing anything, if the step cannot do that for this pass.
  virtual bool assign_and_finish(const Pass&, const Finish&) { return false; }
  /// Enqueues `count` iterations as one kernel, which returns early once the fit has halted.
  /// Iterations alternate between two sets of arguments, those of the first two. Returns false,
  /// without enqueueing anything, if the step cannot do that; it can in all iterations or in none.
  virtual bool run_iterations(const IterationArguments&, const IterationArguments&, int) {
    return false;
  }
  /// True if the step supports Pass::sums_only_changes. Such passes always set Pass::changed.
  virtual bool sums_only_changes() const { return false; }
  /// True if every further iteration enqueues the same work on the same memory and waits for
  /// nothing, so that a CUDA graph of some iterations can be launched again and again. Iterations
  /// differ only in the slots of the double buffers: the pass arguments alternate between two sets.
  virtual bool repeats() const { return false; }
  /// True if enqueueing a pass waits for the passes before it, because samples are streamed to the
  /// device.
  virtual bool streams_samples() const { return false; }
  /// True for steps that prune and count the distances that they evaluate. False: every pass
  /// evaluates rows x k.
  virtual bool counts_distances() const { return false; }
  /// Number of distances evaluated since prepare(); waits for the stream. Negative if the step does
  /// not count them.
  virtual std::int64_t distances() { return -1; }
  /// Number of labels since prepare() that a screen could not prove and the definition decided;
  /// waits for the stream. Negative if the step does not screen.
  virtual std::int64_t exact_fallbacks() { return -1; }
  /// Calls body(part, samples) for consecutive parts that cover `rows`. The samples of a part stay
  /// on the device until the work that the body enqueued on the stream has finished. `skip` (device
  /// memory, or null): if it is not 0 when the stream reaches a part, the samples of that part need
  /// not be copied, and the body may or may not be called for it.
  using Body = std::function<void(lloyd::RowRange part, const Samples<T>& samples)>;
  virtual void for_each_part(lloyd::RowRange rows, const std::int32_t* skip, const Body& body) = 0;
  /// Choices made for the passes since prepare(), in a few words for the record; may be empty. Does
  /// not access the device.
  virtual std::string notes() const { return {}; }
};

}  // namespace lloyd_cuda
