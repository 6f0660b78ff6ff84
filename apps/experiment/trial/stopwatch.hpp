// Stopwatch: accumulates the wall time of scopes.
#pragma once

#include <chrono>

namespace lloyd::experiment {

/// Adds its lifetime to a number of milliseconds.
class Stopwatch {
 public:
  /// `ms` must outlive it.
  explicit Stopwatch(double& ms) : ms_(ms) {}
  ~Stopwatch() { ms_ += std::chrono::duration<double, std::milli>(Clock::now() - begin_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  double& ms_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace lloyd::experiment
