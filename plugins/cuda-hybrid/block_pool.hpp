// BlockPool: threads that run blocks of work in order, as soon as they are published.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <lloyd/plugin/status.hpp>

namespace lloyd_cuda_hybrid {

/// Threads that wait for work between passes. Everything but the threads themselves belongs to the
/// one thread that owns the pool, which is worker 0. What happened before publish(block + 1)
/// happened before the block is run; what a block did happened before end() returns, and before
/// finished() exceeds the block.
class BlockPool {
 public:
  /// Runs a block on a worker in [0, workers); false ends the pass, as does what it throws.
  using Body = std::function<bool(int worker, std::int64_t block)>;

  /// Starts workers - 1 threads. Throws StatusError where the system has no more.
  explicit BlockPool(int workers) : running_(static_cast<std::size_t>(workers), kNone) {
    threads_.reserve(static_cast<std::size_t>(workers - 1));
    try {
      for (int worker = 1; worker < workers; ++worker) {
        threads_.emplace_back([this, worker] { work(worker); });
      }
    } catch (const std::system_error& error) {
      quit();
      throw lloyd::StatusError(lloyd::StatusCode::out_of_memory,
                               "thread " + std::to_string(threads_.size() + 1) + " of " +
                                   std::to_string(workers) +
                                   " could not be started: " + error.what());
    } catch (...) {
      quit();
      throw;
    }
  }
  ~BlockPool() { quit(); }
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// The owner and the threads.
  int workers() const { return static_cast<int>(running_.size()); }

  /// Begins a pass; its blocks are counted from 0, and none is published yet.
  void begin(Body body) {
    const std::lock_guard lock(mutex_);
    body_ = std::move(body);
    stopped_ = false;
  }

  /// Blocks below this number may be run.
  void publish(std::int64_t blocks) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    published_ = blocks;
    // The owner takes one itself.
    const std::int64_t helpers =
        std::min<std::int64_t>(published_ - next_ - 1, static_cast<std::int64_t>(threads_.size()));
    for (std::int64_t helper = 0; helper < helpers; ++helper) work_.notify_one();
  }

  /// Runs a block that is published and that nobody has taken, on the calling thread; false where
  /// there is none.
  bool run_one() {
    std::unique_lock lock(mutex_);
    if (next_ >= published_) return false;
    run_next(0, lock);
    return true;
  }

  /// All blocks below this number are finished.
  std::int64_t finished() {
    const std::lock_guard lock(mutex_);
    return std::min(next_, *std::min_element(running_.begin(), running_.end()));
  }

  /// No further block is run.
  void stop() {
    const std::lock_guard lock(mutex_);
    stop_locked();
  }
  /// Whether stop() was called in this pass, or a body ended it.
  bool stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  /// Waits until no block of the pass runs. Published blocks that nobody has taken must have been
  /// run or stopped before. Returns what a body threw first, or null.
  std::exception_ptr end() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] {
      return std::all_of(running_.begin(), running_.end(),
                         [](std::int64_t block) { return block == kNone; });
    });
    next_ = published_ = 0;
    body_ = nullptr;
    return std::exchange(thrown_, nullptr);
  }

 private:
  // Of a worker that runs nothing.
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  void work(int worker) {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return quits_ || next_ < published_; });
      if (quits_) return;
      run_next(worker, lock);
    }
  }

  void run_next(int worker, std::unique_lock<std::mutex>& lock) {
    std::int64_t& running = running_[static_cast<std::size_t>(worker)];
    running = next_++;
    const std::int64_t block = running;
    lock.unlock();
    bool goes_on = false;
    std::exception_ptr thrown;
    try {
      goes_on = body_(worker, block);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    running = kNone;
    if (!goes_on) stop_locked();
    if (thrown_ == nullptr) thrown_ = std::move(thrown);
    if (next_ >= published_) idle_.notify_one();
  }

  void stop_locked() {
    stopped_ = true;
    published_ = next_;
  }

  void quit() {
    {
      const std::lock_guard lock(mutex_);
      quits_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::mutex mutex_;                   // guards what follows, but for body_ within a pass
  std::condition_variable work_;       // there are blocks to run
  std::condition_variable idle_;       // perhaps no block runs
  std::vector<std::int64_t> running_;  // the block that each worker runs, or kNone
  std::int64_t next_ = 0;              // the first block that nobody has taken
  std::int64_t published_ = 0;
  bool stopped_ = false;
  bool quits_ = false;
  std::exception_ptr thrown_;
  Body body_;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace lloyd_cuda_hybrid
