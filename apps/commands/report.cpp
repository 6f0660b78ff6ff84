// lloyd report: prints the summary of a recorded run as tables, or writes it as an HTML page.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/new_file.hpp>

#include "commands/commands.hpp"
#include "experiment/record/chosen_run.hpp"
#include "experiment/summary/summary.hpp"
#include "json/json_text.hpp"
#include "output/output.hpp"
#include "progress/step_progress.hpp"
#include "report/ceilings_file.hpp"
#include "report/page.hpp"
#include "report/page_data.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;
using namespace experiment;

struct ReportCommand {
  fs::path records;
  std::string run;  // id; empty: the last run
  bool json = false;
  fs::path page;      // file of the HTML page; empty: print tables
  fs::path ceilings;  // output of `lloyd doctor --json`; empty: none
};

void write_page(const ReportCommand& command, const ChosenRun& chosen) {
  const RecordedRun& run = chosen.run;
  nlohmann::ordered_json ceilings;
  if (!command.ceilings.empty()) {
    ceilings = report::read_ceilings(command.ceilings);
    const std::string& cpu = run.fits.front().front().machine.cpu;
    if (ceilings.at("cpu") != cpu) {
      note("lloyd: the ceilings are from another processor ({}) than the records ({})\n",
           ceilings.at("cpu").get<std::string>(), cpu);
    }
  }
  const std::string& experiment = run.fits.front().front().experiment;
  NewFile page(command.page);
  page.write(report::report_page(experiment,
                                 report::page_data(run, chosen.file, chosen.unfinished, ceilings)));
  page.commit();
}

// A run may have a million trials: frees the records after the summary has been made of them.
Summary summarize_digests(std::vector<FitDigest> fits, bool per_iteration) {
  Summarizer summarizer(per_iteration);
  StepProgress progress("summarizing", "rows");
  std::int64_t rows = 0;
  for (FitDigest& fit : fits) {
    summarizer.add(fit);
    fit = FitDigest();
    progress.update(++rows, std::ssize(fits));
  }
  return summarizer.finish();
}

ChosenDigest digest_file(const ReportCommand& command) {
  constexpr std::uint64_t kKiB = 1024;
  StepProgress progress("reading records", "KiB");
  return digest_run(command.records, command.run, [&](std::uint64_t done, std::uint64_t total) {
    progress.update(static_cast<std::int64_t>(done / kKiB),
                    static_cast<std::int64_t>(total / kKiB));
  });
}

int report_run(ReportCommand command) {
  if (!command.page.empty()) report::require_page();
  check_extension(command.page, {".html"});
  command.page = absolute_path(command.page);
  refuse_overwriting({command.page}, {records_file(command.records), command.ceilings});
  try_outputs({command.page});
  const auto print_notes = [](const auto& chosen) {
    for (const std::string& text : chosen.notes) note("lloyd: {}\n", text);
  };
  if (!command.page.empty()) {
    const ChosenRun chosen = read_run(command.records, command.run);
    print_notes(chosen);
    write_page(command, chosen);
    return kDone;
  }
  ChosenDigest chosen = digest_file(command);
  print_notes(chosen);
  const Summary summary =
      summarize_digests(std::move(chosen.run.fits), chosen.run.fixed_iterations);
  if (command.json) {
    print_json(summary_json(summary, chosen.file.parent_path()));
  } else {
    print_text("{}", summary_table(summary));
  }
  return kDone;
}

}  // namespace

void add_report_command(CLI::App& app, Context& context) {
  auto* sub = app.add_subcommand(
      "report", "Print the summary of a run from its records, or write it as a page with charts");
  auto command = std::make_shared<ReportCommand>();
  sub->add_option("RECORDS", command->records, "A record file of 'lloyd run', or its folder")
      ->required();
  sub->add_option("--run", command->run,
                  "Identifier of the run (default: the last one in the file)");
  auto* json = sub->add_flag("--json", command->json, "Print the summary as JSON");
  auto* page = sub->add_option("-o,--output", command->page,
                               "Write a page with charts to this .html file instead of printing");
  page->excludes(json);
  sub->add_option("--ceilings", command->ceilings,
                  "Output of 'lloyd doctor --json': draw the peak rates of the processor")
      ->needs(page);
  sub->callback(
      [&context, command] { context.action = [command] { return report_run(*command); }; });
}

}  // namespace lloyd::apps
