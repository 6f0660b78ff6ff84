// Checks of the workers, blocks and labels of a step, which LloydLoop uses as indices.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/status.hpp>
#include <lloyd/plugin/sdk/label_change_sums.hpp>

namespace lloyd::detail {

// Thrown by a worker whose step returned a label that is no cluster.
struct BadLabel {};

// A label is an index of sums and centroids, so one out of range would corrupt memory.
inline void check_labels(const std::int32_t* labels, std::int64_t rows, std::int64_t clusters) {
  if (!are_labels(labels, rows, clusters)) throw BadLabel();
}

// The number of workers of a step. Throws StatusError if it is below 1.
inline std::size_t checked_workers(int workers) {
  if (workers >= 1) return static_cast<std::size_t>(workers);
  throw StatusError(StatusCode::internal, "the step's workers() returns " +
                                              std::to_string(workers) + "; it must be at least 1");
}

// Throws StatusError unless the blocks of a step have as many rows as they must cover: rows that
// are in no block would have no label.
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

// Throws StatusError unless the labels of a cluster are as many as its last sums have, after a pass
// that reported no changed label.
inline void check_closing_count(std::int64_t cluster, std::int64_t labels, std::int64_t sums) {
  if (labels == sums) return;
  throw StatusError(StatusCode::internal,
                    "the step's assign() reports 0 changed labels, but gives cluster " +
                        std::to_string(cluster) + " " + std::to_string(labels) +
                        " samples, where its sums have " + std::to_string(sums) +
                        "; it must report each changed label");
}

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
  // bad label, worker or block, and `cancelled` after stop().
  void throw_if_stopped(std::int64_t workers, RowRange rows) {
    if (has_failed_.load()) throw_failure();
    if (has_bad_block_.load()) throw_bad_block(workers, rows);
    if (stopped_.load()) throw_cancelled();
  }

 private:
  [[noreturn]] void throw_failure() {
    try {
      std::rethrow_exception(std::exchange(failure_, nullptr));
    } catch (const BadLabel&) {
      throw StatusError(StatusCode::internal,
                        "the step returned a label that is not in [0, clusters)");
    }
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
  std::exception_ptr failure_;  // the first one of a worker
  // Of the first call that was rejected.
  int bad_worker_ = 0;
  RowRange bad_block_;
};

}  // namespace lloyd::detail
