// lloyd report: the summary of a run, from its records.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/suggestion.hpp>

#include "context.hpp"
#include "experiment/numbers.hpp"
#include "experiment/record_reader.hpp"
#include "experiment/summary.hpp"
#include "output.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;
using namespace experiment;

struct ReportCommand {
  fs::path records;
  std::string run;  // empty: the last one
  bool json = false;
};

const RecordedRun& choose_run(const ReportCommand& command, const fs::path& file,
                              const std::vector<RecordedRun>& runs) {
  if (command.run.empty()) {
    if (runs.size() > 1) {
      note("lloyd: {} holds {}; this is the last one, {} (--run takes another)\n", file.string(),
           format_count(std::ssize(runs), "run"), runs.back().id);
    }
    return runs.back();
  }
  std::vector<std::string> ids;
  for (const RecordedRun& run : runs) {
    if (run.id == command.run) return run;
    ids.push_back(run.id);
  }
  throw InputError(fmt::format("{} has no run '{}'{}", file.string(), command.run,
                               suggestion(command.run, ids)));
}

int report(const ReportCommand& command) {
  std::error_code error;
  const bool folder = fs::is_directory(command.records, error);
  const fs::path file = folder ? command.records / "records.jsonl" : command.records;
  const RecordFile records = read_records(file);
  if (!records.note.empty()) note("lloyd: {}\n", records.note);
  const RecordedRun& run = choose_run(command, file, records.runs);
  if (std::ssize(run.fits) < run.planned) {
    note("lloyd: the run was killed: {} of its {} rows are here\n", run.fits.size(), run.planned);
  }
  const Summary summary = summarize(run.fits);
  if (command.json) {
    print_json(summary_json(summary, file.parent_path()));
  } else {
    fmt::print("{}", summary_table(summary));
  }
  return kDone;
}

}  // namespace

void add_report_command(CLI::App& app, Context& context) {
  auto* sub = app.add_subcommand("report", "Print the summary of a run from its records");
  auto command = std::make_shared<ReportCommand>();
  sub->add_option("RECORDS", command->records,
                  "A file of records that 'lloyd run' wrote, or the folder that it is in")
      ->required();
  sub->add_option("--run", command->run, "Which run, by its 'run' (default: the file's last one)");
  sub->add_flag("--json", command->json, "Print the summary as JSON");
  sub->callback([&context, command] { context.action = [command] { return report(*command); }; });
}

}  // namespace lloyd::apps
