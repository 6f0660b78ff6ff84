// StepProgress: progress, on standard error, of a step that takes longer than a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace lloyd::apps {

/// Prints nothing in the first second, and nothing at all for fewer than kMinTotal units: so small
/// a step is slow only on a busy machine. Then updates one line on a terminal; elsewhere prints a
/// line after one second and then every ten seconds.
class StepProgress {
 public:
  static constexpr std::int64_t kMinTotal = 10'000;

  /// `step`: name of the step ("planning"); `unit`: plural noun ("pairs").
  StepProgress(std::string step, std::string unit);
  ~StepProgress();
  StepProgress(const StepProgress&) = delete;
  StepProgress& operator=(const StepProgress&) = delete;

  void update(std::int64_t done, std::int64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  std::string step_;
  std::string unit_;
  bool terminal_;
  Clock::time_point begun_;
  Clock::time_point next_;
  bool line_open_ = false;
};

}  // namespace lloyd::apps
