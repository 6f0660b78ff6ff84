#include "parallel/thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <system_error>

namespace lloyd {

int usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return CPU_COUNT(&cores);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) : max_others_((threads > 0 ? threads : usable_cores()) - 1) {}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  begun_.notify_all();
}

void ThreadPool::start(std::int64_t wanted) {
  try {
    while (std::ssize(others_) < wanted) {
      others_.emplace_back(
          [this, thread = std::ssize(others_), round = round_] { serve(thread, round); });
    }
  } catch (const std::system_error&) {
    // The system has no further thread: the existing ones do the work.
  }
}

void ThreadPool::serve(std::int64_t thread, std::uint64_t last_round) {
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, [&] { return closing_ || round_ != last_round; });
    if (closing_) return;
    last_round = round_;
    if (thread >= wanted_) continue;
    const std::function<void(bool)>& body = *body_;
    lock.unlock();
    body(false);
    lock.lock();
    if (--running_ == 0) ended_.notify_one();
  }
}

void ThreadPool::run(std::int64_t count, const std::function<void(bool)>& body) {
  const std::int64_t others = std::clamp<std::int64_t>(count - 1, 0, max_others_);
  start(others);
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    wanted_ = std::min<std::int64_t>(others, std::ssize(others_));
    running_ = wanted_;
    ++round_;
  }
  if (others > 0) begun_.notify_all();
  body(true);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return running_ == 0; });
}

}  // namespace lloyd
