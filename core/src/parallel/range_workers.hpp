// RangeWorkers: parallel loops over ranges of samples with the core's threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/thread_team.hpp>

namespace lloyd {

/// Serves one caller at a time. Its threads are kept from one loop to the next.
class RangeWorkers {
 public:
  /// `threads` threads; 0: usable_processors().
  explicit RangeWorkers(int threads = 0, StopFunction stop = {});
  /// Uses the threads of `team`, which no other loop may use at the same time.
  RangeWorkers(std::shared_ptr<ThreadTeam> team, StopFunction stop);

  /// Calls body(begin, end) for ranges that cover [0, count), concurrently and in any order, with
  /// the default floating-point modes. Each range begins at a multiple of `range` and, except for
  /// the last, has `range` items. The stop function is called on the calling thread only, before
  /// each of its ranges. Throws Cancelled, or what a body threw.
  void for_each_range(std::int64_t count, std::int64_t range,
                      const std::function<void(std::int64_t begin, std::int64_t end)>& body) const;

  /// Throws Cancelled if the stop function returns true.
  void check_stop() const;
  const StopFunction& stop() const { return stop_; }

 private:
  std::shared_ptr<ThreadTeam> team_;
  StopFunction stop_;
};

}  // namespace lloyd
