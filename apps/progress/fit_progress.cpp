#include "progress/fit_progress.hpp"

#include <cstdio>
#include <utility>

#include "output/messages.hpp"

namespace lloyd::apps {

FitProgress::FitProgress(const FitOptions& options, std::int64_t samples)
    : options_(options),
      samples_(samples),
      terminal_(messages_go_to_terminal()),
      apart_(terminal_ ? std::chrono::milliseconds(300) : std::chrono::seconds(10)),
      last_event_(Clock::now()),
      last_(last_event_) {}

FitProgress::~FitProgress() {
  if (line_open_) write_message("\r\x1b[K");
}

void FitProgress::on_stage(std::string_view stage, std::int64_t done, std::int64_t total) {
  last_event_ = Clock::now();
  stage_line_.update(stage, done, total);
}

void FitProgress::resume(const ResumePoint& point) {
  restart_ = point.restart + (point.iterations > 0 ? 1 : 0);
}

bool FitProgress::on_iteration(const IterationRecord& record) noexcept {
  if (record.iteration == 1) ++restart_;
  ++iterations_;
  const Clock::time_point now = Clock::now();
  elapsed_ += now - std::exchange(last_event_, now);
  if (now - last_ >= apart_) {
    last_ = now;
    const double elapsed = std::chrono::duration<double>(elapsed_).count();
    const std::int64_t left = (options_.restarts - restart_) * options_.max_iterations +
                              options_.max_iterations - record.iteration;
    char text[256];
    std::snprintf(
        text, sizeof(text),
        "%srestart %lld of %lld, iteration %lld of at most %lld, %.3g %% of labels changed, "
        "at most %.0f s left%s",
        terminal_ ? "\r\x1b[K" : "", static_cast<long long>(restart_),
        static_cast<long long>(options_.restarts), static_cast<long long>(record.iteration),
        static_cast<long long>(options_.max_iterations),
        100.0 * static_cast<double>(record.changed) / static_cast<double>(samples_),
        elapsed / static_cast<double>(iterations_) * static_cast<double>(left),
        terminal_ ? "" : "\n");
    write_message(text);
    line_open_ = terminal_;
  }
  return InterruptObserver::on_iteration(record);
}

}  // namespace lloyd::apps
