// BlockPool: threads that run blocks of work in ascending order as soon as they are published.
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

#include <lloyd/plugin/abi/status.hpp>

namespace lloyd_cuda_hybrid {

/// A thread pool. All functions are for the thread that owns the pool, which is worker 0. Memory
/// order: what happened before publish(block + 1) is visible to the block; what a block did is
/// visible after end() returns or finished() exceeds the block.
class BlockPool {
 public:
  /// Runs one block on a worker in [0, workers). Returning false or throwing ends the pass.
  using Body = std::function<bool(int worker, std::int64_t block)>;

  /// Starts workers - 1 threads. Throws StatusError if the system has no more.
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

  /// Number of workers, including the owner.
  int workers() const { return static_cast<int>(running_.size()); }

  /// Begins a pass. Blocks are numbered from 0; none is published yet.
  void begin(Body body) {
    const std::lock_guard lock(mutex_);
    body_ = std::move(body);
    stopped_ = false;
  }

  /// Publishes the blocks below this number: they may be run.
  void publish(std::int64_t blocks) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    published_ = blocks;
    // The owner runs one block itself.
    const std::int64_t helpers =
        std::min<std::int64_t>(published_ - next_ - 1, static_cast<std::int64_t>(threads_.size()));
    for (std::int64_t helper = 0; helper < helpers; ++helper) work_.notify_one();
  }

  /// Runs the next published block on the calling thread; false if there is none.
  bool run_one() {
    std::unique_lock lock(mutex_);
    if (next_ >= published_) return false;
    run_next(0, lock);
    return true;
  }

  /// Number of the first block that is not finished; all below it are.
  std::int64_t finished() {
    const std::lock_guard lock(mutex_);
    return std::min(next_, *std::min_element(running_.begin(), running_.end()));
  }

  /// Prevents further blocks from being run.
  void stop() {
    const std::lock_guard lock(mutex_);
    stop_locked();
  }
  /// True if stop() was called in this pass, or a body ended it.
  bool stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  /// Waits until no block of the pass is running. Before, all published blocks must have been taken
  /// or the pass stopped. Returns the first exception of a body, or null.
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
  // Marks an idle worker.
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

  std::mutex mutex_;                   // guards the members below; body_ only between passes
  std::condition_variable work_;       // signals new blocks
  std::condition_variable idle_;       // signals that a worker became idle
  std::vector<std::int64_t> running_;  // block of each worker, or kNone
  std::int64_t next_ = 0;              // next block to run
  std::int64_t published_ = 0;
  bool stopped_ = false;
  bool quits_ = false;
  std::exception_ptr thrown_;
  Body body_;
  std::vector<std::thread> threads_;  // last member: the threads use all others
};

}  // namespace lloyd_cuda_hybrid
