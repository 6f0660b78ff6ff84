#include "parallel/range_workers.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>
#include <lloyd/plugin/sdk/machine/usable_processors.hpp>

namespace lloyd {

RangeWorkers::RangeWorkers(int threads, StopFunction stop)
    : RangeWorkers(std::make_shared<ThreadTeam>(threads > 0 ? threads : usable_processors()),
                   std::move(stop)) {}

RangeWorkers::RangeWorkers(std::shared_ptr<ThreadTeam> team, StopFunction stop)
    : team_(std::move(team)), stop_(std::move(stop)) {}

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
  team_->run(ranges, [&](int thread) {
    const FloatEnvironment environment;
    try {
      for (std::int64_t r = next++; r < ranges; r = next++) {
        if (thread == 0) check_stop();
        body(r * range, std::min((r + 1) * range, count));
      }
    } catch (...) {
      next = ranges;
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lloyd
