// Checks of the workers, blocks and labels of a step, which LloydLoop uses as indices.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/sdk/guard.hpp>
#include <lloyd/plugin/sdk/label_change_sums.hpp>

namespace lloyd::detail {

// Throws StatusError for a label outside [0, clusters).
[[noreturn]] inline void throw_invalid_label(const InvalidLabel& invalid, std::int64_t clusters) {
  const std::string row = invalid.row < 0 ? "a row" : "row " + std::to_string(invalid.row);
  throw StatusError(StatusCode::internal, std::string("the step's assign() gives ") + row +
                                              " the " + (invalid.is_former ? "former " : "") +
                                              "label " + std::to_string(invalid.label) +
                                              ", which is not in [0, " + std::to_string(clusters) +
                                              ")");
}

// A label is an index of sums and centroids, so one out of range would corrupt memory. labels[0] is
// the label of row `first_row`.
inline void check_labels(const std::int32_t* labels, std::int64_t first_row, std::int64_t rows,
                         std::int64_t clusters) {
  if (are_valid_labels(labels, rows, clusters)) return;
  throw_invalid_label(find_invalid_label(labels, first_row, clusters), clusters);
}

// The number of workers of a step. Throws StatusError if it is below 1.
inline std::size_t checked_workers(int workers) {
  if (workers >= 1) return static_cast<std::size_t>(workers);
  throw StatusError(StatusCode::internal, "the step's workers() returns " +
                                              std::to_string(workers) + "; it must be at least 1");
}

// Throws StatusError unless the blocks of for_each_block() together cover all rows, judged by their
// number: rows in no block would have no label.
inline void check_covered(std::int64_t covered, RowRange rows) {
  if (covered == rows.size()) return;
  throw StatusError(StatusCode::internal,
                    "the blocks of the step's for_each_block() have " + std::to_string(covered) +
                        " rows in total; each of its " + std::to_string(rows.size()) +
                        " rows must be in one block");
}

// Throws StatusError unless the first pass of a fit changed all labels: none had one before. With
// fewer, the fit would stop too early.
inline void check_first_labels(std::int64_t changed, std::int64_t rows) {
  if (changed == rows) return;
  throw StatusError(StatusCode::internal, "the step's assign() reports " + std::to_string(changed) +
                                              " changed labels in the first pass of a fit; all " +
                                              std::to_string(rows) + " are new");
}

// Throws StatusError unless the counts of all clusters have changed by `expected` in total in a
// pass: by all rows in the first one, then by 0.
inline void check_total_count(std::int64_t total, std::int64_t expected, const char* what) {
  if (total == expected) return;
  throw StatusError(StatusCode::internal,
                    "after the step's assign(), the counts of the clusters add up to " +
                        std::to_string(total) + ", not to " + std::to_string(expected) + ": " +
                        what);
}

// Throws StatusError unless the centroids that a step received still have the bits of the
// originals; it could have changed them with a const_cast.
inline void check_centroids_kept(const double* handed, const double* originals,
                                 std::int64_t clusters, std::int64_t features) {
  const std::size_t row = static_cast<std::size_t>(features) * sizeof(double);
  if (std::memcmp(handed, originals, static_cast<std::size_t>(clusters) * row) == 0) return;
  std::int64_t c = 0;
  while (std::memcmp(handed + c * features, originals + c * features, row) == 0) ++c;
  throw StatusError(StatusCode::internal,
                    "the step changed the centroids of begin_pass(), which it may only read: "
                    "centroid " +
                        std::to_string(c) + " differs after the pass");
}

// Throws StatusError unless `distances` is in [0, 2^62].
inline std::int64_t checked_distances(std::int64_t distances) {
  constexpr std::int64_t kMaxDistances = std::int64_t{1} << 62;
  if (distances >= 0 && distances <= kMaxDistances) return distances;
  throw StatusError(StatusCode::internal, "the step's take_distances() returns " +
                                              std::to_string(distances) +
                                              "; 0 to 2^62 are possible");
}

// Throws StatusError unless a pass over `samples` rows can have had `fallbacks` exact fallbacks.
inline std::int64_t checked_exact_fallbacks(std::int64_t fallbacks, std::int64_t samples) {
  if (fallbacks >= 0 && fallbacks <= samples) return fallbacks;
  throw StatusError(StatusCode::internal,
                    "the step's take_exact_fallbacks() returns " + std::to_string(fallbacks) +
                        " after a pass over " + std::to_string(samples) +
                        " samples; it must count the labels that the definition decided since the "
                        "last call");
}

// Throws StatusError unless the cluster's label count equals the count in its last sums, after a
// pass that reported no changed label.
inline void check_closing_count(std::int64_t cluster, std::int64_t labels, std::int64_t sums) {
  if (labels == sums) return;
  throw StatusError(StatusCode::internal,
                    "the step's assign() reports 0 changed labels, but gives cluster " +
                        std::to_string(cluster) + " " + std::to_string(labels) +
                        " samples, where its sums have " + std::to_string(sums) +
                        "; it must report each changed label");
}

// Marks a worker index as in use while a thread runs a block with it.
class WorkerHold {
 public:
  explicit WorkerHold(std::atomic<bool>& held)
      : held_(held), succeeded_(!held.exchange(true, std::memory_order_acquire)) {}
  ~WorkerHold() {
    if (succeeded_) held_.store(false, std::memory_order_release);
  }
  WorkerHold(const WorkerHold&) = delete;
  WorkerHold& operator=(const WorkerHold&) = delete;

  // False if another thread holds the worker.
  bool succeeded() const { return succeeded_; }

 private:
  std::atomic<bool>& held_;
  bool succeeded_;
};

// Shared by the workers of a step: whether they stop, and why. Thread-safe until
// throw_if_stopped().
class BlockChecks {
 public:
  // Lets the workers start again.
  void clear() {
    stopped_ = false;
    has_bad_block_ = false;
    has_failed_ = false;
    failure_ = nullptr;
    shared_worker_ = -1;
    early_label_ = -1;
  }

  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // Stops the workers because the observer requests it.
  void stop() { stopped_.store(true, std::memory_order_relaxed); }

  // True if worker and block are valid; otherwise stops the workers. An empty block may be
  // anywhere.
  bool accepts(int worker, std::int64_t workers, RowRange block, RowRange rows) {
    const bool is_within = block.size() == 0 ||
                           (block.size() > 0 && block.begin >= rows.begin && block.end <= rows.end);
    if (worker >= 0 && worker < workers && is_within) return true;
    if (!has_bad_block_.exchange(true)) {
      bad_worker_ = worker;
      bad_block_ = block;
    }
    stopped_.store(true);
    return false;
  }

  // Stops the workers because two threads use this one.
  void reject_shared(int worker) {
    shared_worker_.store(worker);
    stopped_.store(true);
  }

  // Records a row that already had a label before its block was assigned in a first pass (only the
  // first call is kept).
  void note_early_label(std::int64_t row) {
    std::int64_t none = -1;
    early_label_.compare_exchange_strong(none, row);
  }

  // Runs the work on a block. If it throws, keeps the first exception, stops the workers and
  // returns false: a thread of the step has no handler for exceptions.
  template <class Work>
  bool run(const Work& work) noexcept {
    try {
      work();
      return true;
    } catch (...) {
      if (!has_failed_.exchange(true)) failure_ = std::current_exception();
    }
    stopped_.store(true);
    return false;
  }

  // Called when all workers have ended. Throws the first exception of a worker, StatusError for a
  // bad worker or block, and `cancelled` after stop().
  void throw_if_stopped(std::int64_t workers, RowRange rows) {
    if (shared_worker_.load() >= 0) throw_shared_worker();
    if (has_failed_.load()) throw_failure();
    if (has_bad_block_.load()) throw_bad_block(workers, rows);
    if (stopped_.load()) throw_cancelled();
  }

  // Called when the blocks are known to cover all rows. Throws StatusError after
  // note_early_label().
  void throw_if_labelled_early() const {
    const std::int64_t row = early_label_.load();
    if (row < 0) return;
    throw StatusError(StatusCode::internal,
                      "row " + std::to_string(row) +
                          " had a label before its block was assigned: the step's assign() must "
                          "write the labels of its block only, and for_each_block() must hand out "
                          "each row once");
  }

 private:
  // Blocks call no function of the step but assign(), which is named here instead of around each
  // call. bad_alloc is rethrown unnamed, since it may come from LloydLoop itself.
  void throw_failure() {
    const std::exception_ptr failure = std::exchange(failure_, nullptr);
    try {
      std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      call_step("assign()", [&failure] { std::rethrow_exception(failure); });
    }
  }

  [[noreturn]] void throw_shared_worker() const {
    throw StatusError(StatusCode::internal,
                      "the step's for_each_block() calls its body for worker " +
                          std::to_string(shared_worker_.load()) +
                          " on two threads at once; each worker index must be used by one thread "
                          "at a time");
  }

  [[noreturn]] void throw_bad_block(std::int64_t workers, RowRange rows) const {
    const auto text = [](RowRange range) {
      return "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
    };
    const bool wrong_worker = bad_worker_ < 0 || bad_worker_ >= workers;
    throw StatusError(StatusCode::internal,
                      wrong_worker
                          ? "the step's for_each_block() calls its body with worker " +
                                std::to_string(bad_worker_) + ", but workers() returns " +
                                std::to_string(workers) + "; workers are counted from 0"
                          : "the step's for_each_block() calls its body with the block " +
                                text(bad_block_) + ", which is not within its rows " + text(rows));
  }

  std::atomic<bool> stopped_{false};
  std::atomic<bool> has_bad_block_{false};
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;                 // the first one of a worker
  std::atomic<int> shared_worker_{-1};         // used by two threads at once; -1: none
  std::atomic<std::int64_t> early_label_{-1};  // a row; -1: none
  // Of the first call that was rejected.
  int bad_worker_ = 0;
  RowRange bad_block_;
};

}  // namespace lloyd::detail
