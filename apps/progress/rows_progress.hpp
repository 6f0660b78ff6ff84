// RowsProgress: progress of a pass over a data file on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace lloyd::apps {

/// Updates one line on a terminal; elsewhere prints a line every ten seconds.
class RowsProgress {
 public:
  /// `done`: participle for the samples processed, e.g. "written".
  explicit RowsProgress(std::string done);
  ~RowsProgress();
  RowsProgress(const RowsProgress&) = delete;
  RowsProgress& operator=(const RowsProgress&) = delete;

  /// `part`: fraction done, 0 to 1. Returns false once interrupted(): stop the work.
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
