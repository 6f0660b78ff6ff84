// Progress: reports the progress of a run and its remaining time on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "experiment/plan/plan.hpp"
#include "experiment/record/record.hpp"
#include "experiment/run/time_left.hpp"
#include "progress/stage_text.hpp"

namespace lloyd::experiment {

class Progress {
 public:
  /// Writes text and makes it printable, such as apps::write_message().
  using Writer = std::function<void(std::string_view text)>;

  /// On a terminal, one line is updated in place; otherwise a line is written whenever the setting
  /// changes or ten seconds have passed.
  Progress(const Plan& plan, Writer write, bool terminal);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports the start of a trial. The fit must live until end().
  void begin(const PlannedFit& fit, std::int64_t repeat);
  /// On a terminal, shows a stage of the trial that begin() started; an empty name stands for its
  /// fits. A stage without steps is shown at once, others as StageText does.
  void stage(std::string_view stage, std::int64_t done, std::int64_t total);
  /// Ends the trial that begin() started; `record` is its result.
  void end(const Record& record);
  /// Counts a trial that an earlier run made.
  void pass_over(const PlannedFit& fit);
  /// Writes a separate line.
  void note(const std::string& text);

  /// See TimeLeft::seconds().
  double seconds_left() const { return time_left_.seconds(); }

 private:
  using Clock = std::chrono::steady_clock;
  void clear();
  void overwrite(const std::string& text);

  const Plan& plan_;
  Writer write_;
  bool terminal_;
  TimeLeft time_left_;
  std::int64_t trials_ = 0;  ///< ended
  const PlannedFit* current_ = nullptr;
  std::string trial_text_;  ///< the line of the current trial
  std::string shown_;       ///< the line on the terminal, while it is open
  std::string position_;    ///< beginning of the line: "[3/12]"
  apps::StageText stage_text_;
  Clock::time_point begun_;
  Clock::time_point last_line_;
  std::size_t last_setting_;
  bool line_open_ = false;
};

}  // namespace lloyd::experiment
