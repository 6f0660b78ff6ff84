#include "progress/rows_progress.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "output/messages.hpp"
#include "supervision/interrupt.hpp"
#include "text/numbers.hpp"

namespace lloyd::apps {

RowsProgress::RowsProgress(std::string done)
    : done_(std::move(done)),
      terminal_(messages_go_to_terminal()),
      apart_(terminal_ ? std::chrono::milliseconds(300) : std::chrono::seconds(10)),
      begun_(Clock::now()),
      last_(begun_) {}

RowsProgress::~RowsProgress() {
  if (line_open_) write_message("\r\x1b[K");
}

bool RowsProgress::update(std::int64_t samples, double part) {
  const Clock::time_point now = Clock::now();
  if (now - last_ >= apart_ && part > 0) {
    last_ = now;
    const double left = std::chrono::duration<double>(now - begun_).count() * (1 - part) / part;
    const std::string text = fmt::format("{}{} samples {}, {:.0f} %, about {} left{}",
                                         terminal_ ? "\r\x1b[K" : "", samples, done_, 100 * part,
                                         experiment::format_seconds(left), terminal_ ? "" : "\n");
    write_message(text);
    line_open_ = terminal_;
  }
  return !interrupted();
}

}  // namespace lloyd::apps
