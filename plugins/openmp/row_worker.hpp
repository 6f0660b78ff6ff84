// RowWorker: the state and scratch memory of one thread.
#pragma once

#include <cstdint>

#include "bounds/group_scans.hpp"
#include "change_queue.hpp"
#include "screens/screen_scratch.hpp"
#include "sums/sum_kernels.hpp"
#include "waiting_rows.hpp"

namespace lloyd_openmp {

/// T: type of the samples.
template <class T>
struct alignas(64) RowWorker {
  explicit RowWorker(std::int64_t features)
      : screens(features), changes(features >= kMinBatchedFeatures) {}

  /// Bytes of one worker for k centroids of d features.
  static std::int64_t bytes(std::int64_t k, std::int64_t d) {
    return static_cast<std::int64_t>(sizeof(RowWorker)) + ChangeQueue::bytes() +
           ScreenScratch<T>::bytes(k, d);
  }

  ScreenScratch<T> screens;
  ScanScratch<T> scans;
  WaitingRows bound_open;      ///< rows not proven by their stored bounds
  WaitingRows tightened_open;  ///< rows not proven by the measured distance to their own centroid
  WaitingRows integer_open;    ///< rows not proven by the integer screen
  WaitingRows needs_exact;     ///< rows not proven by any screen
  ChangeQueue changes;         ///< label changes that have not been reported yet
  std::int32_t* labels = nullptr;    ///< labels of all rows; null: unknown
  std::int64_t exact_fallbacks = 0;  ///< labels that the definition decided
  std::int64_t distances = 0;        ///< computed or screened
  std::int64_t open_count = 0;       ///< rows whose stored bounds proved nothing in this pass
};

}  // namespace lloyd_openmp
