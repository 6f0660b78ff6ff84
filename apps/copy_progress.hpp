// CopyProgress: says on standard error how far the writing of a data file is.
#pragma once

#include <chrono>
#include <cstdint>

namespace lloyd::apps {

/// On a terminal one line is kept up to date; elsewhere there is a line every ten seconds.
class CopyProgress {
 public:
  CopyProgress();
  ~CopyProgress();
  CopyProgress(const CopyProgress&) = delete;
  CopyProgress& operator=(const CopyProgress&) = delete;

  /// `part` of all, 0 to 1. False when the work is to end: on interruption.
  bool update(std::int64_t samples, double part);

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  Clock::duration apart_;
  Clock::time_point begun_;
  Clock::time_point last_;
  bool line_open_ = false;
};

}  // namespace lloyd::apps
