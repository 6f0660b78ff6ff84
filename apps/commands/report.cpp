// lloyd report: prints the summary of a recorded run as tables, or writes it as an HTML page.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/shell_word.hpp>
#include <lloyd/internal/shown.hpp>

#include "commands/commands.hpp"
#include "experiment/record/chosen_run.hpp"
#include "experiment/summary/summary.hpp"
#include "output/output.hpp"
#include "output/terminal.hpp"
#include "progress/step_progress.hpp"
#include "report/ceilings_file.hpp"
#include "report/figures.hpp"
#include "report/page.hpp"
#include "report/page_data.hpp"
#include "supervision/interrupt.hpp"
#include "text/numbers.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;
using namespace experiment;

struct ReportCommand {
  fs::path records;
  std::string run;       // see read_run()
  std::string baseline;  // label; empty: the run's own
  std::string format = "text";
  bool has_format = false;  // --format or --json is given
  bool json = false;
  fs::path page;      // file of the HTML page; empty: print tables
  fs::path figures;   // folder of the SVG files; empty: none
  fs::path ceilings;  // output of `lloyd doctor --json`; empty: none
};

std::string page_text(const ReportCommand& command, const ChosenRun& chosen) {
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
  return report::report_page(experiment,
                             report::page_data(run, chosen.file, chosen.unfinished, ceilings));
}

void write_page(const fs::path& file, const std::string& text) {
  NewFile page(file);
  page.write(text);
  page.commit();
}

// Writes an SVG file for each figure of the page.
void write_figures(const fs::path& folder, const fs::path& browser, const std::string& page) {
  install_interrupt_handler();
  const std::map<std::string, std::string> figures = report::draw_figures(browser, page);
  make_folder(folder);
  for (const auto& [id, svg] : figures) write_page(folder / (id + ".svg"), svg);
  note("wrote {} to {}\n", format_count(std::ssize(figures), "figure"), folder.string());
}

// Throws InputError unless `label` is one of the backends of the run. `labels`: with repetitions.
void check_baseline(const std::string& label, const std::vector<std::string>& labels) {
  if (std::find(labels.begin(), labels.end(), label) != labels.end()) return;
  std::vector<std::string> distinct;
  for (const std::string& other : labels) {
    if (std::find(distinct.begin(), distinct.end(), other) == distinct.end()) {
      distinct.push_back(other);
    }
  }
  throw InputError(fmt::format("--baseline is '{}', but the backends of the run are {}", label,
                               shown_names(distinct)));
}

void set_baseline(const std::string& label, RecordedRun& run) {
  if (label.empty()) return;
  std::vector<std::string> labels;
  for (const std::vector<Record>& fit : run.fits) labels.push_back(fit.front().backend.label);
  check_baseline(label, labels);
  for (std::vector<Record>& fit : run.fits) {
    for (Record& record : fit) record.plan.baseline = label;
  }
}

void set_baseline(const std::string& label, std::vector<FitDigest>& fits) {
  if (label.empty()) return;
  std::vector<std::string> labels;
  for (const FitDigest& fit : fits) labels.push_back(fit.backend);
  check_baseline(label, labels);
  for (FitDigest& fit : fits) fit.baseline = label;
}

void print_summary(const ReportCommand& command, const Summary& summary, const fs::path& folder) {
  if (command.json || command.format == "json") {
    print_json(summary_json(summary, folder));
  } else if (command.format == "csv") {
    print_text("{}", summary_csv(summary));
  } else if (command.format == "markdown") {
    print_text("{}", summary_markdown(summary));
  } else if (command.format == "latex") {
    print_text("{}", summary_latex(summary));
  } else {
    print_text("{}", summary_table(summary, result_width()));
  }
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

// Refuses a page whose extension is not .html, with the option that prints the format.
void check_page(const fs::path& page) {
  const std::string extension = lower_case_extension(page);
  for (const auto& [known, format] :
       {std::pair(".md", "markdown"), std::pair(".csv", "csv"), std::pair(".tex", "latex"),
        std::pair(".json", "json"), std::pair(".txt", "text")}) {
    if (extension != known) continue;
    throw InputError(fmt::format("{}: --output writes .html; --format {} > {} writes this file",
                                 page.string(), format, shell_word(page.string())));
  }
  check_extension(page, {".html"});
}

int report_run(ReportCommand command) {
  const bool needs_page = !command.page.empty() || !command.figures.empty();
  if (!command.ceilings.empty() && !needs_page) {
    throw InputError("--ceilings needs --output or --figures too");
  }
  if (needs_page) report::require_page();
  const fs::path browser = command.figures.empty() ? fs::path() : report::find_browser();
  if (!command.page.empty() && command.has_format) {
    throw InputError(
        fmt::format("{} and --output cannot be given together; redirect the output "
                    "instead: > {}",
                    command.json ? "--json" : "--format", shell_word(command.page.string())));
  }
  check_page(command.page);
  command.page = absolute_path(command.page);
  command.figures = absolute_path(command.figures);
  refuse_overwriting({command.page}, {records_file(command.records), command.ceilings});
  try_outputs({command.page});
  const auto print_notes = [](const auto& chosen) {
    for (const std::string& text : chosen.notes) note("lloyd: {}\n", text);
  };
  if (needs_page) {
    ChosenRun chosen = read_run(command.records, command.run);
    print_notes(chosen);
    set_baseline(command.baseline, chosen.run);
    const std::string page = page_text(command, chosen);
    if (!command.page.empty()) {
      write_page(command.page, page);
      note("wrote {}\n", command.page.string());
    }
    if (!command.figures.empty()) write_figures(command.figures, browser, page);
    return kDone;
  }
  ChosenDigest chosen = digest_file(command);
  print_notes(chosen);
  set_baseline(command.baseline, chosen.run.fits);
  const Summary summary =
      summarize_digests(std::move(chosen.run.fits), chosen.run.fixed_iterations);
  print_summary(command, summary, chosen.file.parent_path());
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
                  "Run to show: its identifier, the beginning of it or 'last' (default)");
  sub->add_option("--baseline", command->baseline,
                  "Label of the backend that speedups are relative to (default: the run's)");
  auto* json = sub->add_flag("--json", command->json, "The same as --format json");
  auto* format = sub->add_option("--format", command->format, "text, markdown, latex, csv or json")
                     ->check(CLI::IsMember({"text", "markdown", "latex", "csv", "json"}))
                     ->excludes(json);
  sub->add_option("-o,--output", command->page,
                  "Write a page with charts to this .html file instead of printing");
  sub->add_option("--figures", command->figures,
                  "Write each chart of the page as an .svg file into this folder (needs chromium)")
      ->excludes(json)
      ->excludes(format);
  sub->add_option(
      "--ceilings", command->ceilings,
      "With --output or --figures: draw the peak rates of the processor from this output of 'lloyd "
      "doctor --json'");
  sub->callback([&context, command, json, format] {
    command->has_format = json->count() + format->count() > 0;
    context.action = [command] { return report_run(*command); };
  });
}

}  // namespace lloyd::apps
