// StepProgress: says on standard error how far a step is that takes longer than a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace lloyd::apps {

/// Nothing is said in the first second, and never of fewer than kMinTotal units: so small a step
/// takes long only where the machine is busy. On a terminal one line is kept up to date; elsewhere
/// there is a line after a second and then every ten seconds.
class StepProgress {
 public:
  static constexpr std::int64_t kMinTotal = 10'000;

  /// `step`: what is being done, and `unit`, in the plural: "planning", "pairs".
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
