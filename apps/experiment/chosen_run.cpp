#include "experiment/chosen_run.hpp"

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/suggestion.hpp>

#include "experiment/numbers.hpp"

namespace lloyd::experiment {
namespace {

RecordedRun& find_run(std::vector<RecordedRun>& runs, const std::string& id,
                      const std::string& file) {
  std::vector<std::string> ids;
  for (RecordedRun& run : runs) {
    if (run.id == id) return run;
    ids.push_back(run.id);
  }
  throw InputError(fmt::format("{} has no run '{}'{}", file, id, suggestion(id, ids)));
}

}  // namespace

std::filesystem::path records_file(const std::filesystem::path& records) {
  std::error_code error;
  return std::filesystem::is_directory(records, error) ? records / "records.jsonl" : records;
}

ChosenRun read_run(const std::filesystem::path& records, const std::string& id) {
  ChosenRun chosen;
  chosen.file = records_file(records);
  const std::string name = chosen.file.string();
  RecordFile file = read_records(chosen.file);
  if (!file.note.empty()) chosen.notes.push_back(file.note);
  RecordedRun& run = id.empty() ? file.runs.back() : find_run(file.runs, id, name);
  if (id.empty() && file.runs.size() > 1) {
    chosen.notes.push_back(
        fmt::format("{} holds {}; this is the last one, {} (--run takes another)", name,
                    format_count(std::ssize(file.runs), "run"), run.id));
  }
  chosen.run = std::move(run);
  if (std::ssize(chosen.run.fits) < chosen.run.planned) {
    chosen.notes.push_back(fmt::format("the run was killed: {} of its {} rows are here",
                                       chosen.run.fits.size(), chosen.run.planned));
  }
  return chosen;
}

}  // namespace lloyd::experiment
