#include "experiment/progress.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "experiment/numbers.hpp"
#include "experiment/table.hpp"

namespace lloyd::experiment {
namespace {

constexpr std::chrono::seconds kLinesApart{10};
// What an iteration takes whatever its size, in operations of its assignment: about 0.1 ms. Without
// it the time left would be far too long while the small settings run.
constexpr double kOverhead = 1e5;

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col - 1u;
  return 79;
}

}  // namespace

Progress::Progress(const Plan& plan, std::FILE* stream, bool terminal)
    : plan_(plan),
      stream_(stream),
      terminal_(terminal),
      paces_(plan.variants.size()),
      last_setting_(std::numeric_limits<std::size_t>::max()) {
  for (const PlannedFit& fit : plan.fits) {
    if (fit.skip.empty()) {
      paces_[fit.variant].work_left += work_of(fit) * static_cast<double>(plan.repeats);
    }
  }
}

double Progress::work_of(const PlannedFit& fit) const {
  const PlannedSetting& planned = plan_.settings[fit.setting];
  const FitOptions& options = planned.setting.options;
  const double iteration = kOverhead + static_cast<double>(planned.dataset.samples) *
                                           static_cast<double>(planned.dataset.features) *
                                           static_cast<double>(options.clusters);
  // A fit that may converge rarely takes more than some dozens of iterations.
  const auto iterations = static_cast<double>(
      options.fixed_iterations ? options.max_iterations
                               : std::min<std::int64_t>(options.max_iterations, 30));
  return iteration * iterations * static_cast<double>(options.restarts);
}

void Progress::begin(const PlannedFit& fit, std::int64_t repeat) {
  current_ = &fit;
  begun_ = Clock::now();
  const PlannedSetting& planned = plan_.settings[fit.setting];
  std::string text = fmt::format("[{}/{}{}] {}", trials_ + 1, plan_.trials(),
                                 plan_.until ? "+" : "", plan_.variants[fit.variant].label);
  for (const AxisValue& axis : planned.setting.axes) {
    text += fmt::format(", {} {}", axis.path.substr(axis.path.rfind('.') + 1), axis.value);
  }
  text += fmt::format(", repeat {}/{}{}", repeat + 1, plan_.repeats, plan_.until ? "+" : "");
  const double left = seconds_left();
  if (left >= 0) text += fmt::format(", about {} left", format_seconds(left));
  if (terminal_) {
    std::fputs(("\r\x1b[K" + wrap(text, terminal_width(stream_)).front()).c_str(), stream_);
    line_open_ = true;
  } else if (fit.setting != last_setting_ || begun_ - last_line_ >= kLinesApart) {
    std::fputs((text + '\n').c_str(), stream_);
    last_setting_ = fit.setting;
    last_line_ = begun_;
  }
  std::fflush(stream_);
}

void Progress::end() {
  if (current_ == nullptr) return;
  Pace& pace = paces_[current_->variant];
  const double work = work_of(*current_);
  pace.work_done += work;
  pace.work_left -= work;
  pace.seconds += std::chrono::duration<double>(Clock::now() - begun_).count();
  ++trials_;
  current_ = nullptr;
}

void Progress::pass_over(const PlannedFit& fit) {
  paces_[fit.variant].work_left -= work_of(fit);
  ++trials_;
}

void Progress::note(const std::string& text) {
  clear();
  std::fputs((text + '\n').c_str(), stream_);
  std::fflush(stream_);
}

double Progress::seconds_left() const {
  Pace all;
  for (const Pace& pace : paces_) {
    all.work_done += pace.work_done;
    all.seconds += pace.seconds;
  }
  if (all.work_done == 0) return -1;
  double seconds = 0;
  for (const Pace& pace : paces_) {
    const Pace& known = pace.work_done > 0 ? pace : all;
    seconds += std::max(0.0, pace.work_left) * known.seconds / known.work_done;
  }
  return seconds;
}

void Progress::clear() {
  if (!line_open_) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  line_open_ = false;
}

}  // namespace lloyd::experiment
