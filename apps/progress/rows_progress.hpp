// RowsProgress: says on standard error how far a pass over a data file is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace lloyd::apps {

/// On a terminal one line is kept up to date; elsewhere there is a line every ten seconds.
class RowsProgress {
 public:
  /// `done` is what has been done to the samples: "written".
  explicit RowsProgress(std::string done);
  ~RowsProgress();
  RowsProgress(const RowsProgress&) = delete;
  RowsProgress& operator=(const RowsProgress&) = delete;

  /// `part` of all, 0 to 1. False when the work is to end: on interruption.
  bool update(std::int64_t samples, double part);

 private:
  using Clock = std::chrono::steady_clock;

  std::string done_;
  bool terminal_;
  Clock::duration apart_;
  Clock::time_point begun_;
  Clock::time_point last_;
  bool line_open_ = false;
};

}  // namespace lloyd::apps
