#include "fit/checkpoint_option.hpp"

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/parameter_set.hpp>

#include "output/output.hpp"
#include "progress/fit_progress.hpp"

namespace lloyd::apps {
namespace {

// An interval of iterations, or of seconds.
struct Interval {
  std::int64_t count = 0;
  bool in_seconds = false;
};

std::optional<Interval> parse_interval(std::string_view text) {
  Interval interval;
  interval.in_seconds = text.ends_with('s');
  if (interval.in_seconds) text.remove_suffix(1);
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, interval.count);
  if (stopped != end || error != std::errc() || has_leading_zero(text) || interval.count < 1) {
    return std::nullopt;
  }
  return interval;
}

CLI::Validator interval_text() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (parse_interval(text)) return {};
        return fmt::format(
            "'{}' is neither a number of iterations, such as 10, nor of seconds, such as 60s",
            text);
      },
      "");
}

// True if a higher limit of iterations would let a finished fit go on.
bool is_limited(const FitOptions& options, const Fit& fit) {
  return options.restarts == 1 && !options.fixed_iterations &&
         fit.result.stop_reason == StopReason::max_iterations;
}

}  // namespace

void CheckpointOption::add_to(CLI::App& command) {
  auto* const checkpoint =
      command.add_option("--checkpoint", folder,
                         "Write checkpoints of the fit into this folder; the checkpoint is removed "
                         "when the fit has finished");
  command
      .add_option("--checkpoint-every", every,
                  "Time between two checkpoints, such as 60s, or number of iterations, such as 10")
      ->check(interval_text())
      ->needs(checkpoint)
      ->capture_default_str();
  command
      .add_flag(
          "--resume", resume,
          "Continue from the checkpoint in the --checkpoint folder; if there is none, begin a "
          "new fit")
      ->needs(checkpoint);
}

void CheckpointOption::complete() {
  folder = absolute_path(folder).string();
}

void CheckpointOption::prepare() const {
  if (folder.empty()) return;
  make_folder(folder);
  const bool exists = has_checkpoint(folder);
  if (exists && !resume) {
    throw InputError(fmt::format(
        "{} has the checkpoint of an unfinished fit; --resume continues it, and removing {} "
        "discards it",
        folder, checkpoint_files(folder).front().string()));
  }
  if (!exists && resume) note("lloyd: {} has no checkpoint; starting a new fit\n", folder);
}

CheckpointOptions CheckpointOption::options(FitProgress& progress, bool standardize) const {
  CheckpointOptions options;
  options.folder = folder;
  const Interval interval = parse_interval(every).value_or(Interval());
  if (interval.in_seconds) {
    options.every_seconds = static_cast<double>(interval.count);
  } else {
    options.every_iterations = interval.count;
  }
  options.resume = resume;
  options.conditions["standardize"] = standardize ? "yes" : "no";
  options.on_warning = [](const std::string& text) { note_warnings({text}); };
  options.on_resume = [&progress](const ResumePoint& point) {
    note("resuming restart {} after iteration {}\n", point.restart + 1, point.iterations);
    progress.resume(point);
  };
  return options;
}

std::int64_t CheckpointOption::bytes(std::int64_t clusters, std::int64_t features) const {
  constexpr std::int64_t kCopies = 2;  // of the centroids
  std::int64_t values = 0;
  std::int64_t bytes = 0;
  if (folder.empty()) return 0;
  if (__builtin_mul_overflow(clusters, features, &values) ||
      __builtin_mul_overflow(values, kCopies * std::int64_t{sizeof(double)}, &bytes)) {
    return std::numeric_limits<std::int64_t>::max() / 2;  // check_options() refuses such a k
  }
  return bytes;
}

void CheckpointOption::finish(const FitOptions& options, const Fit& fit) const {
  if (folder.empty()) return;
  if (fit.cancelled || is_limited(options, fit)) {
    if (!has_checkpoint(folder)) return;
    if (fit.cancelled) {
      note("lloyd: the same command with --resume continues the fit\n");
    } else {
      note(
          "lloyd: the fit reached the limit of {}; --resume with a higher --max-iterations "
          "continues it\n",
          format_count(options.max_iterations, "iteration"));
    }
    return;
  }
  try {
    remove_checkpoint(folder);
  } catch (const Error& error) {
    note_warnings({error.what()});
  }
}

}  // namespace lloyd::apps
