#include "seeding/range_workers.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

namespace lloyd {

int usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return CPU_COUNT(&cores);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

RangeWorkers::RangeWorkers(int threads, StopFunction stop)
    : threads_(threads > 0 ? threads : usable_cores()), stop_(std::move(stop)) {}

void RangeWorkers::check_stop() const {
  if (stop_ && stop_()) throw Cancelled();
}

void RangeWorkers::for_each_range(
    std::int64_t count, std::int64_t range,
    const std::function<void(std::int64_t, std::int64_t)>& body) const {
  const std::int64_t ranges = (count + range - 1) / range;
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](bool asks) {
    const FloatEnvironment environment;
    try {
      for (std::int64_t r = next++; r < ranges; r = next++) {
        if (asks) check_stop();
        body(r * range, std::min((r + 1) * range, count));
      }
    } catch (...) {
      next = ranges;
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::jthread> others;
  const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(threads_, ranges));
  try {
    while (others.size() + 1 < wanted) others.emplace_back(work, false);
  } catch (const std::system_error&) {
    // The system has no further thread: the existing ones do the work.
  }
  work(true);
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lloyd
