// ThreadPool: threads that run parallel loops and sleep between them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lloyd {

/// Number of cores that this process may use, at least 1.
int usable_cores();

/// Serves one caller at a time.
class ThreadPool {
 public:
  /// `threads` threads, the caller's included; 0: one per usable core. They are started by the
  /// first run() that needs them.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls body(true) on this thread and body(false) on up to `count` - 1 others, and returns when
  /// all calls have. There are fewer calls if the pool has fewer threads or the system gives no
  /// more. `body` must not throw.
  void run(std::int64_t count, const std::function<void(bool is_caller)>& body);

 private:
  /// Starts threads until there are `wanted`, or the system has no more.
  void start(std::int64_t wanted);
  void serve(std::int64_t thread, std::uint64_t last_round);

  std::int64_t max_others_;
  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  // Guarded by mutex_:
  const std::function<void(bool)>* body_ = nullptr;
  std::uint64_t round_ = 0;   ///< number of calls of run() so far
  std::int64_t wanted_ = 0;   ///< the threads below this index take part in the round
  std::int64_t running_ = 0;  ///< those of them that have not finished
  bool closing_ = false;

  std::vector<std::jthread> others_;  ///< used by the caller only; last, so that it is joined first
};

}  // namespace lloyd
