// FitProgress: says on standard error how far one fit is.
#pragma once

#include <chrono>
#include <cstdint>

#include <lloyd/fit.hpp>

#include "supervision/interrupt.hpp"

namespace lloyd::apps {

/// Observes all restarts of a fit. On a terminal one line is kept up to date; elsewhere there is a
/// line every ten seconds. The time left is that of max_iterations and so the longest. Also stops
/// the fit on interruption.
class FitProgress : public InterruptObserver {
 public:
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
