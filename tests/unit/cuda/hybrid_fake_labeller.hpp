// A labeller for cuda-hybrid's step that needs no device: a thread runs the kernel's search on the
// CPU.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/parameters.hpp>
#include <lloyd/plugin/abi/status.hpp>

#include "cuda-hybrid/label_pipeline.hpp"
#include "cuda-hybrid/nearest_search.hpp"

namespace lloyd::fake {

struct HostDistance {
  template <class Real>
  static Real add(Real sum, Real x, Real c) {
    const Real difference = x - c;
    return sum + difference * difference;
  }
};

/// Configures the fake device and counts its calls. Several sessions may use it at once.
struct HybridDevice {
  std::atomic<int> fails_at_start = 0;    ///< number of the start that throws; 0: none
  std::atomic<int> fails_at_arrival = 0;  ///< number of the arrival that throws; 0: none
  std::atomic<bool> hangs = false;        ///< labels never arrive; the pass can still be abandoned
  std::atomic<int> starts = 0;            ///< chunks
  std::atomic<int> arrivals = 0;          ///< chunks
  std::atomic<int> abandons = 0;          ///< passes

  /// Restores the initial state.
  void reset() {
    fails_at_start = fails_at_arrival = starts = arrivals = abandons = 0;
    hangs = false;
  }
};
inline HybridDevice hybrid_device;

/// Implements the labeller interface of HybridStep. Searches centroids in portions of five, which
/// split groups.
template <class T>
class HybridLabeller {
 public:
  HybridLabeller(const DatasetView& dataset, const ParameterList&, std::int64_t chunk_rows)
      : dataset_(dataset),
        chunk_rows_(chunk_rows),
        labels_(static_cast<std::size_t>(lloyd_cuda_hybrid::kSlots * chunk_rows)),
        thread_([this] { run(); }) {}
  ~HybridLabeller() {
    {
      const std::lock_guard lock(mutex_);
      quits_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  template <class Real>
  void begin_pass(const lloyd_cuda_hybrid::GroupFeature<Real>* groups, std::int64_t clusters,
                  bool profile) {
    profiled_ = profile;
    if constexpr (sizeof(Real) == sizeof(float)) {
      narrow_ = groups;
    } else {
      wide_ = groups;
      narrow_ = nullptr;
    }
    groups_ = lloyd_cuda_hybrid::group_features(clusters, dataset_.features);
  }

  void start(int slot, RowRange rows) {
    if (++hybrid_device.starts == hybrid_device.fails_at_start) {
      throw StatusError(StatusCode::device_error, "the start failed");
    }
    // Makes a late read of the previous chunk's labels visible.
    std::fill_n(slot_labels(slot), rows.size(), -7);
    const std::lock_guard lock(mutex_);
    if (pending_[static_cast<std::size_t>(slot)] || rows.size() > chunk_rows_ || rows.size() < 1) {
      throw StatusError(StatusCode::internal, "the slot is not free for these rows");
    }
    pending_[static_cast<std::size_t>(slot)] = true;
    queue_.push_back({slot, rows});
    changed_.notify_all();
  }

  bool arrived(int slot) {
    const std::lock_guard lock(mutex_);
    if (pending_[static_cast<std::size_t>(slot)]) return false;
    if (++hybrid_device.arrivals == hybrid_device.fails_at_arrival) {
      throw StatusError(StatusCode::device_error, "the labelling failed");
    }
    return true;
  }

  const std::int32_t* labels(int slot) const { return labels_.data() + slot * chunk_rows_; }

  void abandon() {
    ++hybrid_device.abandons;
    std::unique_lock lock(mutex_);
    gives_up_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return queue_.empty(); });
    gives_up_ = false;
  }

  double transfer_ms() const { return profiled_ ? 0x1p-20 : 0; }

 private:
  std::int32_t* slot_labels(int slot) { return labels_.data() + slot * chunk_rows_; }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return quits_ || !queue_.empty(); });
      if (quits_) return;
      const auto [slot, rows] = queue_.front();
      changed_.wait(lock, [this] { return !hybrid_device.hangs || gives_up_ || quits_; });
      if (!gives_up_) {
        lock.unlock();
        label(slot, rows);
        lock.lock();
      }
      pending_[static_cast<std::size_t>(slot)] = false;
      queue_.pop_front();
      changed_.notify_all();
    }
  }

  void label(int slot, RowRange rows) {
    std::int32_t* labels = slot_labels(slot);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const T* x = static_cast<const T*>(dataset_.data) + i * dataset_.stride;
      *labels++ = narrow_ != nullptr ? nearest(x, narrow_) : nearest(x, wide_);
    }
  }

  template <class Real>
  std::int32_t nearest(const T* x, const lloyd_cuda_hybrid::GroupFeature<Real>* groups) const {
    constexpr std::int64_t kPortion = 5;
    lloyd_cuda_hybrid::NearestSearch<Real, HostDistance> search;
    for (std::int64_t begin = 0; begin < groups_; begin += kPortion) {
      const auto count = static_cast<int>(std::min(kPortion, groups_ - begin));
      search.take(groups + begin, count, x, 1, dataset_.features);
    }
    return search.nearest();
  }

  struct Work {
    int slot;
    RowRange rows;
  };

  DatasetView dataset_;
  std::int64_t chunk_rows_;
  const lloyd_cuda_hybrid::GroupFeature<float>* narrow_ = nullptr;
  const lloyd_cuda_hybrid::GroupFeature<double>* wide_ = nullptr;
  std::int64_t groups_ = 0;
  bool profiled_ = false;
  std::vector<std::int32_t> labels_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queue_;
  std::array<bool, lloyd_cuda_hybrid::kSlots> pending_{};
  bool gives_up_ = false;
  bool quits_ = false;
  std::thread thread_;
};

}  // namespace lloyd::fake
