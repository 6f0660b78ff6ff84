// lloyd history: the times of many recorded runs, and where they changed.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "commands/commands.hpp"
#include "experiment/history/history.hpp"
#include "experiment/record/chosen_run.hpp"
#include "output/output.hpp"
#include "output/terminal.hpp"
#include "progress/step_progress.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;
using namespace experiment;

struct HistoryCommand {
  std::vector<fs::path> records;
  std::string format = "text";
  bool by_time = false;
  bool json = false;
};

// All runs of the files, in their order.
std::vector<LocatedRun> read_all_runs(const std::vector<fs::path>& records) {
  std::vector<LocatedRun> runs;
  StepProgress progress("reading records", "files");
  for (std::size_t f = 0; f < records.size(); ++f) {
    const fs::path file = records_file(records[f]);
    DigestFile read = digest_records(file);
    if (!read.note.empty()) note("lloyd: {}\n", read.note);
    for (DigestedRun& run : read.runs) runs.push_back({file, std::move(run)});
    progress.update(static_cast<std::int64_t>(f + 1), std::ssize(records));
  }
  return runs;
}

int print_history(const HistoryCommand& command) {
  for (const fs::path& records : command.records) refuse_overwriting({}, {records_file(records)});
  std::vector<LocatedRun> runs = read_all_runs(command.records);
  if (command.by_time) sort_by_time(runs);
  const History history = make_history(std::move(runs));
  if (history.rows.empty()) {
    throw InputError(fmt::format("{}: none of the runs has a trial that succeeded",
                                 records_file(command.records.front()).string()));
  }
  if (command.json || command.format == "json") {
    print_json(history_json(history));
  } else if (command.format == "csv") {
    print_text("{}", history_csv(history));
  } else if (command.format == "markdown") {
    print_text("{}", history_markdown(history));
  } else {
    print_text("{}", history_text(history, result_width()));
  }
  return kDone;
}

}  // namespace

void add_history_command(CLI::App& app, Context& context) {
  auto* sub = app.add_subcommand(
      "history", "Print the times of many runs, such as one per commit, and where they changed");
  auto command = std::make_shared<HistoryCommand>();
  sub->add_option("RECORDS", command->records,
                  "Record files of 'lloyd run', or their folders, oldest first; all their runs are "
                  "taken")
      ->required();
  sub->add_flag("--by-time", command->by_time,
                "Sort the runs by when they began instead of keeping the given order");
  auto* json = sub->add_flag("--json", command->json, "The same as --format json");
  sub->add_option("--format", command->format, "text, markdown, csv or json")
      ->check(CLI::IsMember({"text", "markdown", "csv", "json"}))
      ->excludes(json);
  sub->callback(
      [&context, command] { context.action = [command] { return print_history(*command); }; });
}

}  // namespace lloyd::apps
