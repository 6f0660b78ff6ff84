// lloyd report: the summary of a run, from its records, as a table or a page.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/suggestion.hpp>

#include "context.hpp"
#include "experiment/numbers.hpp"
#include "experiment/record_reader.hpp"
#include "experiment/summary.hpp"
#include "output.hpp"
#include "report/ceilings_file.hpp"
#include "report/page.hpp"
#include "report/page_data.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;
using namespace experiment;

struct ReportCommand {
  fs::path records;
  std::string run;  // empty: the last one
  bool json = false;
  fs::path page;      // empty: print tables
  fs::path ceilings;  // empty: none
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

void write_page(const ReportCommand& command, const fs::path& file, const RecordedRun& run) {
  nlohmann::ordered_json ceilings;
  if (!command.ceilings.empty()) {
    ceilings = report::read_ceilings(command.ceilings);
    const std::string& cpu = run.fits.front().front().machine.cpu;
    if (ceilings.at("cpu") != cpu) {
      note("lloyd: the ceilings are of another processor ({}) than the records ({})\n",
           ceilings.at("cpu").get<std::string>(), cpu);
    }
  }
  const std::string& experiment = run.fits.front().front().experiment;
  NewFile page(command.page);
  page.write(report::report_page(experiment, report::page_data(run, file, ceilings)));
  page.commit();
}

int report_run(const ReportCommand& command) {
  std::error_code error;
  const bool folder = fs::is_directory(command.records, error);
  const fs::path file = folder ? command.records / "records.jsonl" : command.records;
  check_output(command.page, {".html"});
  check_not_input(command.page, file);
  check_not_input(command.page, command.ceilings);
  const RecordFile records = read_records(file);
  if (!records.note.empty()) note("lloyd: {}\n", records.note);
  const RecordedRun& run = choose_run(command, file, records.runs);
  if (std::ssize(run.fits) < run.planned) {
    note("lloyd: the run was killed: {} of its {} rows are here\n", run.fits.size(), run.planned);
  }
  if (!command.page.empty()) {
    write_page(command, file, run);
    return kDone;
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
  auto* sub =
      app.add_subcommand("report", "The summary of a run from its records: printed, or drawn");
  auto command = std::make_shared<ReportCommand>();
  sub->add_option("RECORDS", command->records,
                  "A file of records that 'lloyd run' wrote, or the folder that it is in")
      ->required();
  sub->add_option("--run", command->run, "Which run, by its 'run' (default: the file's last one)");
  auto* json = sub->add_flag("--json", command->json, "Print the summary as JSON");
  auto* page = sub->add_option("-o,--output", command->page,
                               "Write a page with charts to this .html file instead of printing");
  page->excludes(json);
  sub->add_option("--ceilings", command->ceilings,
                  "Output of 'lloyd doctor --json': draw what the processor can do at most")
      ->needs(page);
  sub->callback(
      [&context, command] { context.action = [command] { return report_run(*command); }; });
}

}  // namespace lloyd::apps
