#include "progress/stage_text.hpp"

#include <fmt/format.h>

#include "text/numbers.hpp"

namespace lloyd::apps {

std::optional<std::string> StageText::update(std::string_view stage, std::int64_t done,
                                             std::int64_t total, Clock::time_point now) {
  if (stage != stage_ || done < done_) {
    stage_ = stage;
    begun_ = now;
    next_ = now + kInitialSilence;
  }
  done_ = done;
  if (now < next_ || total <= 0) return std::nullopt;
  next_ = now + kMinInterval;
  const double part = static_cast<double>(done) / static_cast<double>(total);
  std::string text = total <= kMaxCounted ? fmt::format("{} {}/{}", stage, done, total)
                                          : fmt::format("{} {:.0f} %", stage, 100 * part);
  if (done > 0) {
    const double left = std::chrono::duration<double>(now - begun_).count() * (1 - part) / part;
    text += fmt::format(", about {} left", experiment::format_seconds(left));
  }
  return text;
}

}  // namespace lloyd::apps
