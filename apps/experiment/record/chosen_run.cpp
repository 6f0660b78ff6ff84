#include "experiment/record/chosen_run.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/suggestion.hpp>

#include "experiment/record/record_writer.hpp"
#include "text/numbers.hpp"

namespace lloyd::experiment {
namespace {

// A file may hold thousands of runs, so only the last ones are listed.
constexpr std::size_t kMaxListed = 5;

std::string suggested_run(const std::string& id, const std::vector<std::string>& ids) {
  if (ids.size() <= kMaxListed || !nearest_name(id, ids).empty()) return suggestion(id, ids);
  return fmt::format(" (the last {} of its {}: {})", kMaxListed,
                     format_count(std::ssize(ids), "run"),
                     shown_names({ids.end() - kMaxListed, ids.end()}));
}

// The run with the identifier `id`; otherwise, the last one for "last", or the only one whose
// identifier begins with `id`.
template <class Run>
Run& find_run(std::vector<Run>& runs, const std::string& id, const std::string& file) {
  std::vector<std::string> ids;
  std::vector<std::string> matches;
  std::size_t match = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].id == id) return runs[i];
    ids.push_back(runs[i].id);
    if (!runs[i].id.starts_with(id)) continue;
    matches.push_back(runs[i].id);
    match = i;
  }
  if (id == "last") return runs.back();
  if (matches.size() == 1) return runs[match];
  if (!matches.empty()) {
    const std::size_t listed = std::min(matches.size(), kMaxListed);
    throw InputError(fmt::format(
        "{} has {} runs that begin with '{}' ({}{})", file, matches.size(), id,
        listed < matches.size() ? "the last ones: " : "",
        shown_names({matches.end() - static_cast<std::ptrdiff_t>(listed), matches.end()})));
  }
  throw InputError(fmt::format("{} has no run '{}'{}", file, id, suggested_run(id, ids)));
}

// The number of trials with an outcome, and the minimum number planned.
struct Coverage {
  std::int64_t trials = 0;
  std::int64_t planned = 0;
  bool cancelled = false;
};

const std::vector<Record>& trials_of(const std::vector<Record>& fit) {
  return fit;
}

const std::vector<TrialDigest>& trials_of(const FitDigest& fit) {
  return fit.trials;
}

template <class Run>
Coverage coverage_of(const Run& run) {
  Coverage coverage;
  const std::int64_t repeats = run.repeats;
  if (__builtin_mul_overflow(run.planned, repeats, &coverage.planned)) {
    coverage.planned = std::numeric_limits<std::int64_t>::max();
  }
  for (const auto& fit : run.fits) {
    std::int64_t trials = 0;
    for (const auto& record : trials_of(fit)) {
      if (record.status == TrialStatus::skipped) trials = repeats;
      coverage.cancelled = coverage.cancelled || record.status == TrialStatus::cancelled;
      const bool counts = record.status == TrialStatus::ok || is_failure(record.status);
      trials += counts && record.repeat < repeats;
    }
    coverage.trials += trials;
  }
  return coverage;
}

// Explains why trials are missing; empty if none is.
template <class Run>
std::string unfinished_text(const Run& run, bool being_written) {
  const Coverage coverage = coverage_of(run);
  if (coverage.trials >= coverage.planned) return "";
  const auto rows = std::ssize(run.fits);
  const std::string what =
      rows < run.planned
          ? fmt::format("{} of its {} rows are here", rows, run.planned)
          : fmt::format("{} of its {} trials are here", coverage.trials, coverage.planned);
  if (being_written) return "the run is not over, a process is still writing to the file: " + what;
  return fmt::format("the run was {}: {}", coverage.cancelled ? "interrupted" : "killed", what);
}

template <class Run, class Read>
Chosen<Run> choose(const std::filesystem::path& records, const std::string& id, const Read& read) {
  Chosen<Run> chosen;
  chosen.file = records_file(records);
  const std::string name = chosen.file.string();
  // Checked before and after reading, since a run may begin or end meanwhile.
  const bool written_before = is_being_written(chosen.file);
  auto file = read(chosen.file);
  const bool being_written = written_before || is_being_written(chosen.file);
  if (!file.note.empty()) {
    chosen.notes.push_back(file.note + (being_written ? "" : ", left by a run that was killed"));
  }
  Run& run = id.empty() ? file.runs.back() : find_run(file.runs, id, name);
  if (id.empty() && file.runs.size() > 1) {
    chosen.notes.push_back(
        fmt::format("{} holds {}; this is the last one, {} (--run takes another)", name,
                    format_count(std::ssize(file.runs), "run"), run.id));
  }
  chosen.runs = std::ssize(file.runs);
  chosen.run = std::move(run);
  chosen.unfinished = unfinished_text(chosen.run, being_written);
  if (!chosen.unfinished.empty()) chosen.notes.push_back(chosen.unfinished);
  return chosen;
}

}  // namespace

std::filesystem::path records_file(const std::filesystem::path& records) {
  std::error_code error;
  return std::filesystem::is_directory(records, error) ? records / "records.jsonl" : records;
}

ChosenRun read_run(const std::filesystem::path& records, const std::string& id) {
  return choose<RecordedRun>(records, id, read_records);
}

ChosenDigest digest_run(const std::filesystem::path& records, const std::string& id,
                        const ReadProgress& progress) {
  return choose<DigestedRun>(records, id, [&](const std::filesystem::path& file) {
    return digest_records(file, progress);
  });
}

}  // namespace lloyd::experiment
