#include "copy_progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "experiment/numbers.hpp"
#include "interrupt.hpp"

namespace lloyd::apps {

CopyProgress::CopyProgress()
    : terminal_(::isatty(STDERR_FILENO) != 0),
      apart_(terminal_ ? std::chrono::milliseconds(300) : std::chrono::seconds(10)),
      begun_(Clock::now()),
      last_(begun_) {}

CopyProgress::~CopyProgress() {
  if (line_open_) std::fputs("\r\x1b[K", stderr);
}

bool CopyProgress::update(std::int64_t samples, double part) {
  const Clock::time_point now = Clock::now();
  if (now - last_ >= apart_ && part > 0) {
    last_ = now;
    const double left = std::chrono::duration<double>(now - begun_).count() * (1 - part) / part;
    const std::string text =
        fmt::format("{}{} samples written, {:.0f} %, about {} left{}", terminal_ ? "\r\x1b[K" : "",
                    samples, 100 * part, experiment::format_seconds(left), terminal_ ? "" : "\n");
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    line_open_ = terminal_;
  }
  return !interrupted();
}

}  // namespace lloyd::apps
