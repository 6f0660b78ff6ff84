// FitProgress: progress of a fit on standard error.
#pragma once

#include <chrono>
#include <cstdint>

#include <lloyd/fit.hpp>

#include "supervision/interrupt.hpp"

namespace lloyd::apps {

/// Observes all restarts of a fit. Updates one line on a terminal; elsewhere prints a line every
/// ten seconds. The time left assumes max_iterations, so it is an upper bound. Stops the fit once
/// interrupted().
class FitProgress : public InterruptObserver {
 public:
  /// `samples`: n of the data set.
  FitProgress(const FitOptions& options, std::int64_t samples);
  ~FitProgress();

  bool on_iteration(const IterationRecord& record) noexcept override;

 private:
  using Clock = std::chrono::steady_clock;

  FitOptions options_;
  std::int64_t samples_;
  bool terminal_;
  Clock::duration apart_;
  Clock::time_point begun_;
  Clock::time_point last_;
  std::int64_t restart_ = 0;
  std::int64_t iterations_ = 0;  // of all restarts
  bool line_open_ = false;
};

}  // namespace lloyd::apps
