#include "progress/step_progress.hpp"

#include <utility>

#include <fmt/format.h>

#include "output/messages.hpp"
#include "text/numbers.hpp"

namespace lloyd::apps {

StepProgress::StepProgress(std::string step, std::string unit)
    : step_(std::move(step)),
      unit_(std::move(unit)),
      terminal_(messages_go_to_terminal()),
      begun_(Clock::now()),
      next_(begun_ + std::chrono::seconds(1)) {}

StepProgress::~StepProgress() {
  if (line_open_) write_message("\r\x1b[K");
}

void StepProgress::update(std::int64_t done, std::int64_t total) {
  if (total < kMinTotal || done <= 0) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(300) : std::chrono::seconds(10));
  const double part = static_cast<double>(done) / static_cast<double>(total);
  const double left = std::chrono::duration<double>(now - begun_).count() * (1 - part) / part;
  const std::string text =
      fmt::format("{}lloyd: {}: {} of {} {}, about {} left{}", terminal_ ? "\r\x1b[K" : "", step_,
                  done, total, unit_, experiment::format_seconds(left), terminal_ ? "" : "\n");
  write_message(text);
  line_open_ = terminal_;
}

}  // namespace lloyd::apps
