// ThreadTeam: threads that share the work of many short parallel loops.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <lloyd/plugin/sdk/machine/usable_processors.hpp>
#include <lloyd/plugin/sdk/processor_order.hpp>

namespace lloyd {

/// Threads that are kept from one parallel loop to the next. Serves one caller at a time; the
/// caller is thread 0.
///
/// A loop never waits for a thread that has not begun to work: a thread that is not scheduled in
/// time, because another process runs on its processor or because it was asleep, does not take
/// part. So even on a busy machine, a loop takes hardly longer than on the calling thread alone.
/// Waiting threads spin for a short time, then sleep. See docs/design/openmp/threads.md.
class ThreadTeam {
 public:
  /// `threads`: the maximum, including the caller; values below 1 mean 1. Threads are started by
  /// the first loop that needs them. If there are more than usable_processors(), none of them
  /// spins.
  explicit ThreadTeam(int threads)
      : spin_time_(threads <= usable_processors() ? kSpinTime : std::chrono::nanoseconds(0)),
        mask_(AffinityMask::of_this_thread()),
        threads_(std::max(threads, 1)) {}

  ~ThreadTeam() {
    if (!has_threads()) {
      // In a forked child, which has only the thread that forked. The handles of the others are
      // neither joined nor detached: they may be those of threads that the child has started.
      for (auto& worker : workers_) static_cast<void>(worker.release());
      return;
    }
    closing_.store(true);
    for (const auto& worker : workers_) worker->signal(~worker->round.load());
    for (const auto& worker : workers_) worker->thread.join();
  }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// The maximum number of threads.
  int threads() const { return threads_; }
  /// Affinity mask of the threads: that of the thread that created the team.
  const AffinityMask& mask() const { return mask_; }
  /// False in a child of the process that created the team. There, loops run on the calling thread.
  bool has_threads() const { return process_ == ::getpid(); }

  /// Calls body(0) on this thread and body(thread), thread in [1, threads), on others, each at most
  /// once. Returns when all calls have returned. Other threads may come too late to be called, so
  /// body(0) must do all work that no other thread has begun. `body` must not use the team. If
  /// calls throw, run() throws the first of the exceptions after all calls have ended.
  template <class Body>
  void run(std::int64_t threads, Body&& body) {
    const auto others =
        static_cast<std::size_t>(std::clamp<std::int64_t>(threads, 1, threads_) - 1);
    if (others == 0) {
      body(0);
      return;
    }
    start(others);
    body_ = const_cast<void*>(static_cast<const void*>(&body));
    call_ = [](void* object, int thread) {
      (*static_cast<std::remove_reference_t<Body>*>(object))(thread);
    };
    ++round_;
    gate_.store(std::uint64_t{round_} << kRoundShift, std::memory_order_release);
    for (std::size_t i = 0; i < std::min(others, workers_.size()); ++i) workers_[i]->signal(round_);
    call(0);
    close();
    if (has_failed_.load(std::memory_order_relaxed)) throw_failure();
  }

  /// Calls body(thread, item) for each item in [0, count), in any order, on up to `threads` threads
  /// with numbers in [0, threads). `body` must not use the team. If a call throws, no further calls
  /// begin, and for_each() throws the first exception after those that are running have ended.
  template <class Body>
  void for_each(std::int64_t threads, std::int64_t count, Body&& body) {
    std::atomic<std::int64_t> next{0};
    run(std::min(threads, count), [&](int thread) {
      try {
        for (std::int64_t item = next.fetch_add(1, std::memory_order_relaxed); item < count;
             item = next.fetch_add(1, std::memory_order_relaxed)) {
          body(thread, item);
        }
      } catch (...) {
        next.store(count, std::memory_order_relaxed);
        throw;
      }
    });
  }

 private:
  // Longer than waking a thread and than the sequential part of an iteration on a small problem,
  // but much shorter than a time slice of the scheduler.
  static constexpr std::chrono::nanoseconds kSpinTime{50'000};

  struct alignas(64) Worker {
    void signal(std::uint32_t value) {
      // Sequentially consistent: notify_one() must not look for waiting threads before the value is
      // visible to a thread that is about to wait.
      round.store(value);
      round.notify_one();
    }
    std::atomic<std::uint32_t> round{0};  // the last round that the thread was called to
    std::thread thread;
  };

  // The parts of gate_: the number of the round (one round per loop), a bit that is set once the
  // round is closed, and the number of other threads that are working in it.
  static constexpr int kRoundShift = 32;
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 31;
  static constexpr std::uint64_t kWorking = kClosed - 1;

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  // Waits until `value` is not `old`.
  template <class T>
  void wait(const std::atomic<T>& value, T old) const {
    constexpr int kPauses = 16;
    if (spin_time_.count() > 0) {
      const auto end = std::chrono::steady_clock::now() + spin_time_;
      do {
        for (int i = 0; i < kPauses; ++i) {
          if (value.load(std::memory_order_acquire) != old) return;
          pause();
        }
      } while (std::chrono::steady_clock::now() < end);
    }
    value.wait(old, std::memory_order_acquire);
  }

  // Blocks the signals of the process in this thread. New threads inherit that, so signals reach
  // only threads of the host, which may wait for them. Faults and the timers of profilers reach the
  // thread that causes them.
  class BlockedSignals {
   public:
    BlockedSignals() {
      sigset_t blocked;
      sigfillset(&blocked);
      for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) {
        sigdelset(&blocked, own);
      }
      pthread_sigmask(SIG_BLOCK, &blocked, &former_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

   private:
    sigset_t former_{};
  };

  // Starts threads until there are `wanted`, or the system cannot create more.
  void start(std::size_t wanted) {
    if (workers_.size() >= wanted || !has_threads()) return;
    if (order_.empty()) {
      const int own = ::sched_getcpu();
      order_ = worker_processors(mask_.processors(), own, CoreNumbering::of_processor(own));
    }
    const BlockedSignals blocked;
    try {
      while (workers_.size() < wanted) {
        auto worker = std::make_unique<Worker>();
        const auto thread = static_cast<int>(workers_.size()) + 1;
        workers_.reserve(workers_.size() + 1);
        worker->thread = std::thread([this, thread, &own = *worker] { serve(thread, own); });
        workers_.push_back(std::move(worker));
        place(workers_.size() - 1);
      }
    } catch (const std::system_error&) {
      // The system cannot create more threads: the existing ones do the work.
    }
  }

  // Moves a new thread to a processor of its own, then restores its mask: new threads start on the
  // processor of their creator, and some kernels leave them there although other processors are
  // idle. If the system refuses, the thread stays where it is.
  void place(std::size_t i) {
    if (i >= order_.size()) return;
    const pthread_t thread = workers_[i]->thread.native_handle();
    if (AffinityMask::of({order_[i]}).apply(thread)) mask_.apply(thread);
  }

  void serve(int thread, Worker& own) {
    for (std::uint32_t round = 0;;) {
      wait(own.round, round);
      round = own.round.load(std::memory_order_acquire);
      if (closing_.load()) return;
      if (!enter(round)) continue;
      call(thread);
      const std::uint64_t before = gate_.fetch_sub(1);  // sequentially consistent, as in signal()
      if ((before & (kClosed | kWorking)) == (kClosed | 1)) gate_.notify_one();
    }
  }

  // Calls the body of the round and keeps the first exception of all threads.
  void call(int thread) noexcept {
    try {
      call_(body_, thread);
    } catch (...) {
      if (!has_failed_.exchange(true)) failure_ = std::current_exception();
    }
  }

  [[noreturn]] void throw_failure() {
    has_failed_ = false;
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  // Enters a round; returns false if it is closed.
  bool enter(std::uint32_t round) {
    std::uint64_t gate = gate_.load(std::memory_order_acquire);
    while (gate >> kRoundShift == round && (gate & kClosed) == 0) {
      if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  // Closes the round to further threads and waits for those that are working in it.
  void close() {
    std::uint64_t gate = gate_.fetch_or(kClosed, std::memory_order_acq_rel) | kClosed;
    while ((gate & kWorking) != 0) {
      wait(gate_, gate);
      gate = gate_.load(std::memory_order_acquire);
    }
  }

  // State of the round, see kRoundShift. Storing it publishes body_ and call_ to the other threads.
  alignas(64) std::atomic<std::uint64_t> gate_{kClosed};
  const std::chrono::nanoseconds spin_time_;
  void* body_ = nullptr;
  void (*call_)(void* body, int thread) = nullptr;
  const AffinityMask mask_;
  std::vector<int> order_;  // processors for the other threads
  std::vector<std::unique_ptr<Worker>> workers_;
  const int threads_;
  const pid_t process_ = ::getpid();
  std::uint32_t round_ = 0;
  std::atomic<bool> closing_{false};
  std::atomic<bool> has_failed_{false};  // a thread has thrown in this round
  std::exception_ptr failure_;           // the first exception of the round
};

}  // namespace lloyd
