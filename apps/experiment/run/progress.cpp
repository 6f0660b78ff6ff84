#include "experiment/run/progress.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <lloyd/internal/status_text.hpp>

#include "output/messages.hpp"
#include "output/terminal.hpp"
#include "text/numbers.hpp"
#include "text/table.hpp"

namespace lloyd::experiment {
namespace {

constexpr std::chrono::seconds kLinesApart{10};

// One column less than the terminal has, so that it does not begin another line.
std::size_t progress_width() {
  const std::size_t columns = apps::terminal_columns(apps::message_descriptor()).value_or(80);
  return std::max<std::size_t>(columns, 2) - 1;
}

}  // namespace

Progress::Progress(const Plan& plan, Writer write, bool terminal)
    : plan_(plan),
      write_(std::move(write)),
      terminal_(terminal),
      time_left_(plan),
      last_setting_(std::numeric_limits<std::size_t>::max()) {}

void Progress::begin(const PlannedFit& fit, std::int64_t repeat) {
  current_ = &fit;
  begun_ = Clock::now();
  const PlannedSetting& planned = plan_.settings[fit.setting];
  position_ = fmt::format("[{}/{}{}]", trials_ + 1, plan_.trials(), plan_.until ? "+" : "");
  std::string text = fmt::format("{} {}", position_, plan_.variants[fit.variant].label);
  for (const AxisValue& axis : planned.setting.axes) {
    text += fmt::format(", {} {}", axis.path.substr(axis.path.rfind('.') + 1), axis.value);
  }
  text += fmt::format(", repeat {}/{}{}", repeat + 1, plan_.repeats, plan_.until ? "+" : "");
  const double left = seconds_left();
  if (left >= 0) text += fmt::format(", about {} left", format_seconds(left));
  if (terminal_) {
    trial_text_ = text;
    overwrite(text);
  } else if (fit.setting != last_setting_ || begun_ - last_line_ >= kLinesApart) {
    write_(printable(text) + '\n');
    last_setting_ = fit.setting;
    last_line_ = begun_;
  }
}

void Progress::overwrite(const std::string& text) {
  if (line_open_ && text == shown_) return;
  shown_ = text;
  write_("\r\x1b[K" + wrap(printable(text), progress_width()).front());
  line_open_ = true;
}

void Progress::stage(std::string_view stage, std::int64_t done, std::int64_t total) {
  if (!terminal_ || current_ == nullptr) return;
  if (stage.empty() || (total > 0 && done >= total)) {
    overwrite(trial_text_);
  } else if (total == 0) {
    overwrite(fmt::format("{} {}", position_, stage));
  } else if (const auto text = stage_text_.update(stage, done, total)) {
    overwrite(fmt::format("{} {}", position_, *text));
  }
}

void Progress::end(const Record& record) {
  if (current_ == nullptr) return;
  std::optional<double> fit_seconds;
  if (record.fit) fit_seconds = record.fit->fit_ms / 1e3;
  time_left_.add(*current_, std::chrono::duration<double>(Clock::now() - begun_).count(),
                 fit_seconds);
  ++trials_;
  current_ = nullptr;
}

void Progress::pass_over(const PlannedFit& fit) {
  time_left_.pass_over(fit);
  ++trials_;
}

void Progress::note(const std::string& text) {
  clear();
  write_(printable_lines(text) + '\n');
}

void Progress::clear() {
  if (!line_open_) return;
  write_("\r\x1b[K");
  line_open_ = false;
}

}  // namespace lloyd::experiment
