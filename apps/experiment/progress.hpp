// Progress: says on standard error how far a run is and how long it will still take.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "experiment/plan.hpp"

namespace lloyd::experiment {

class Progress {
 public:
  /// `stream` must outlive this object. On a terminal one line is kept up to date; elsewhere there
  /// is a line whenever the setting changes or ten seconds have passed.
  Progress(const Plan& plan, std::FILE* stream, bool terminal);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(const PlannedFit& fit, std::int64_t repeat);
  void end();
  /// A trial that an earlier run made.
  void pass_over(const PlannedFit& fit);
  /// A line of its own.
  void note(const std::string& text);

  /// Seconds that the trials not yet ended will take; negative while that cannot be told.
  double seconds_left() const;

 private:
  using Clock = std::chrono::steady_clock;
  /// Time goes with the size of a problem; how fast is learnt for each variant.
  struct Pace {
    double work_done = 0;
    double work_left = 0;
    double seconds = 0;
  };

  double work_of(const PlannedFit& fit) const;
  void clear();

  const Plan& plan_;
  std::FILE* stream_;
  bool terminal_;
  std::vector<Pace> paces_;  ///< by variant
  std::int64_t trials_ = 0;  ///< ended
  const PlannedFit* current_ = nullptr;
  Clock::time_point begun_;
  Clock::time_point last_line_;
  std::size_t last_setting_;
  bool line_open_ = false;
};

}  // namespace lloyd::experiment
