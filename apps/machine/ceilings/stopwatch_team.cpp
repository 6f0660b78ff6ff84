#include "machine/ceilings/stopwatch_team.hpp"

#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>

namespace lloyd::machine {
namespace {

using Clock = std::chrono::steady_clock;

// Completion function of the barrier: runs on one thread while the others wait.
class Stopwatch {
 public:
  explicit Stopwatch(double budget_seconds) : budget_(budget_seconds) {}

  void all_arrived() {
    const Clock::time_point now = Clock::now();
    if (running_) {
      least_ = std::min(least_, seconds(now - start_));
      ++runs_;
    } else if (runs_ == 0) {
      first_start_ = now;
    }
    done_ = runs_ >= 2 && seconds(now - first_start_) >= budget_;
    running_ = !running_;
    start_ = Clock::now();
  }
  bool done() const { return done_; }
  double least() const { return least_; }

 private:
  static double seconds(Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
  }

  double budget_;
  bool running_ = false;
  bool done_ = false;
  Clock::time_point first_start_;
  Clock::time_point start_;
  int runs_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
};

void bind_to(int processor) {
  const auto free_set = [](cpu_set_t* set) { CPU_FREE(set); };
  const std::unique_ptr<cpu_set_t, decltype(free_set)> set(CPU_ALLOC(processor + 1), free_set);
  if (set == nullptr) return;
  const std::size_t size = CPU_ALLOC_SIZE(processor + 1);
  CPU_ZERO_S(size, set.get());
  CPU_SET_S(static_cast<std::size_t>(processor), size, set.get());
  // On failure the scheduler places the thread.
  static_cast<void>(sched_setaffinity(0, size, set.get()));
}

}  // namespace

double least_seconds(const std::vector<int>& processors, double budget_seconds,
                     const std::function<void(std::size_t, std::int64_t)>& work,
                     const std::function<void(std::size_t)>& prepare) {
  Stopwatch stopwatch(budget_seconds);
  const auto arrived = [&stopwatch]() noexcept { stopwatch.all_arrived(); };
  std::barrier barrier(static_cast<std::ptrdiff_t>(processors.size()), arrived);
  std::vector<std::jthread> threads;
  threads.reserve(processors.size());
  try {
    for (std::size_t t = 0; t < processors.size(); ++t) {
      threads.emplace_back([&, t] {
        // A single thread is not bound, so that the scheduler can move it away from other work.
        if (processors.size() > 1) bind_to(processors[t]);
        if (prepare) prepare(t);
        for (std::int64_t run = 0; !stopwatch.done(); ++run) {
          barrier.arrive_and_wait();
          work(t, run);
          barrier.arrive_and_wait();
        }
      });
    }
  } catch (...) {
    // The running threads must not wait for threads that were not started.
    for (std::size_t t = threads.size(); t < processors.size(); ++t) barrier.arrive_and_drop();
    throw;
  }
  threads.clear();  // joins
  return stopwatch.least();
}

}  // namespace lloyd::machine
