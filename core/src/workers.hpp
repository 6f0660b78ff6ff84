// Workers: loops over ranges of samples on the core's own threads.
#pragma once

#include <cstdint>
#include <functional>

#include <lloyd/seeding.hpp>

namespace lloyd {

/// Number of cores that the process may run on, at least 1.
int usable_cores();

class Workers {
 public:
  /// `threads` 0: one per usable core.
  explicit Workers(int threads = 0, StopFunction stop = {});

  /// Calls body(begin, end) for ranges that cover [0, count), all but the last of `range` items and
  /// each starting at a multiple of it, from several threads at once, in no particular order and
  /// with the default floating-point modes. The stop function is asked on the calling thread,
  /// before each range that it takes. Throws Cancelled, or what a body threw.
  void for_each_range(std::int64_t count, std::int64_t range,
                      const std::function<void(std::int64_t begin, std::int64_t end)>& body) const;

  /// Throws Cancelled where the stop function says so.
  void check_stop() const;
  const StopFunction& stop() const { return stop_; }

 private:
  int threads_;
  StopFunction stop_;
};

}  // namespace lloyd
