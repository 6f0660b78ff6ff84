// ChangeQueue: label changes of one thread that have not been reported yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <lloyd/plugin/sdk/cluster_sums.hpp>

#include "common/tile.hpp"
#include "sums/sum_kernels.hpp"

namespace lloyd_openmp {

/// The consumer of label changes reads the changed samples. A screen of stored integer tiles does
/// not load the rows, so they are prefetched when they change, and reported one or more tiles
/// later, in batches, when they have arrived in cache.
class ChangeQueue {
 public:
  /// `batched`: the sum kernels prefetch samples themselves and want large batches.
  explicit ChangeQueue(bool batched) : batched_(batched) { changes_.reserve(kCapacity); }

  void add(const lloyd::LabelChange& change) { changes_.push_back(change); }

  /// Call after each tile. Calls send(changes, count) for the changes whose rows have arrived in
  /// cache. `rows_uncached`: the screen did not load the changed rows; the caller has prefetched
  /// them, or the sum kernels will if `batched`.
  template <class Send>
  void end_tile(bool rows_uncached, const Send& send) {
    // Rows without a former label have just been rounded or screened and are in cache. In batched
    // mode the sum kernels prefetch, so all changes are ready.
    const bool delay = rows_uncached && !changes_.empty() && changes_.back().from >= 0;
    if (!delay || batched_) ready_ = changes_.size();
    const bool full =
        batched_ ? std::ssize(changes_) >= kMaxBatchedSamples : ++tiles_ == kTilesPerReport;
    if (!delay || full) send_ready(send);
    ready_ = changes_.size();
  }

  /// Calls send() for all changes that are left.
  template <class Send>
  void flush(const Send& send) {
    ready_ = changes_.size();
    send_ready(send);
    ready_ = 0;
  }

  static constexpr std::int64_t bytes() {
    return static_cast<std::int64_t>(kCapacity * sizeof(lloyd::LabelChange));
  }

 private:
  /// Holds a batch, the changes of one tile, and those of the rows in the four queues of a worker
  /// (each has fewer than two tiles).
  static constexpr std::size_t kCapacity = kMaxBatchedSamples + 9 * kTile;
  /// If more tiles wait, the prefetched rows may already have left the caches.
  static constexpr int kTilesPerReport = 4;

  template <class Send>
  void send_ready(const Send& send) {
    send(changes_.data(), static_cast<std::int64_t>(ready_));
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(ready_));
    tiles_ = 0;
  }

  bool batched_;
  std::vector<lloyd::LabelChange> changes_;
  std::size_t ready_ = 0;  // changes of earlier tiles, whose rows have arrived in cache
  int tiles_ = 0;          // since the last report
};

}  // namespace lloyd_openmp
