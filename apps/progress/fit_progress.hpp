// FitProgress: progress of a fit on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include <lloyd/fit.hpp>

#include "progress/stage_line.hpp"
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
  /// Tells that the fit is resumed after `point`.
  void resume(const ResumePoint& point);
  /// A StageFunction for fit(): shows seeding and checking, on a terminal only.
  void on_stage(std::string_view stage, std::int64_t done, std::int64_t total);

 protected:
  /// Number of the restart of the last iteration, from 1.
  std::int64_t restart() const { return restart_; }

 private:
  using Clock = std::chrono::steady_clock;

  FitOptions options_;
  std::int64_t samples_;
  bool terminal_;
  Clock::duration apart_;
  Clock::duration elapsed_{};     ///< spent in iterations, without seeding
  Clock::time_point last_event_;  ///< end of the last iteration or step of another stage
  Clock::time_point last_;        ///< when the last line was written
  std::int64_t restart_ = 0;
  std::int64_t iterations_ = 0;  // of all restarts
  StageLine stage_line_;
  bool line_open_ = false;
};

}  // namespace lloyd::apps
