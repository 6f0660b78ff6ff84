// lloyd compare: compares the times of two recorded runs, or of two backends of one run.
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>

#include "commands/commands.hpp"
#include "experiment/record/chosen_run.hpp"
#include "experiment/summary/compare.hpp"
#include "output/output.hpp"
#include "output/terminal.hpp"
#include "text/numbers.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;
using namespace experiment;

struct CompareCommand {
  std::vector<fs::path> records;
  std::vector<std::string> runs;      // ids; empty: the last run of each file
  std::vector<std::string> backends;  // labels; empty: the run has exactly two
  std::string format = "text";
  bool json = false;
  std::string fail_if_slower;  // a percentage; empty: option not given, never fail
};

// Parses "5%" as 0.05; no value for another text.
std::optional<double> read_percentage(const std::string& text) {
  double percent = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, percent);
  if (error == std::errc() && last == end - 1 && *last == '%' && percent >= 0 && percent <= 1000) {
    return percent / 100;
  }
  return std::nullopt;
}

// Refuses an empty text too, which would otherwise count as an option not given.
std::string check_percentage(const std::string& text) {
  if (read_percentage(text)) return {};
  return fmt::format("takes a percentage from 0% to 1000%, such as 5%, not '{}'", text);
}

ChosenRun open_run(const CompareCommand& command, std::size_t place) {
  const std::string id = place < command.runs.size() ? command.runs[place] : "";
  ChosenRun run = read_run(command.records[place], id);
  for (const std::string& text : run.notes) note("lloyd: {}\n", text);
  return run;
}

std::vector<std::string> choose_backends(const CompareCommand& command, const ChosenRun& run) {
  if (!command.backends.empty()) return command.backends;
  std::vector<std::string> labels = variant_labels(run.run.fits);
  if (labels.size() == 2) return labels;
  std::vector<std::string> advice;
  if (labels.size() > 1) advice.emplace_back("--backends OLD NEW chooses two");
  if (run.runs > 1) {
    advice.push_back(fmt::format("--run ID ID compares two of the {} runs in the file", run.runs));
  }
  advice.emplace_back("a second RECORDS names another file");
  throw InputError(fmt::format("a comparison needs two backends, but the run in {} has {} ({}); {}",
                               run.file.string(),
                               labels.size() == 1 ? "one" : std::to_string(labels.size()),
                               shown_names(labels), enumerated(advice, "or")));
}

// True for equal records, also in a copy of the file; false if any value, such as a time, differs.
bool are_the_same(const RecordedRun& a, const RecordedRun& b) {
  const auto same = [](const Record& x, const Record& y) { return to_json(x) == to_json(y); };
  return a.id == b.id &&
         std::equal(a.fits.begin(), a.fits.end(), b.fits.begin(), b.fits.end(),
                    [&](const auto& x, const auto& y) {
                      return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
                    });
}

nlohmann::ordered_json run_json(const ChosenRun& run) {
  const Record& first = run.run.fits.front().front();
  return {{"file", run.file.string()}, {"run", run.run.id}, {"experiment", first.experiment}};
}

int print_comparison(const CompareCommand& command, const RunComparison& comparison,
                     const ChosenRun& older, const ChosenRun& newer) {
  const bool fails = !command.fail_if_slower.empty() &&
                     is_slower_than(comparison, *read_percentage(command.fail_if_slower));
  const auto name = [](const ChosenRun& run) {
    return fmt::format("{}, run {}", run.file.string(), run.run.id);
  };
  if (command.json || command.format == "json") {
    nlohmann::ordered_json json;
    json["old"] = run_json(older);
    json["new"] = run_json(newer);
    json.update(comparison_json(comparison));
    json["fails"] = fails;
    print_json(json);
  } else if (command.format == "csv") {
    print_text("{}", comparison_csv(comparison));
  } else if (command.format == "markdown") {
    print_text("{}", comparison_markdown(comparison));
  } else {
    if (!comparison.paired) print_text("old: {}\nnew: {}\n\n", name(older), name(newer));
    print_text("{}", comparison_text(comparison, result_width()));
  }
  const auto unclear =
      std::count_if(comparison.rows.begin(), comparison.rows.end(),
                    [](const ComparedRow& row) { return row.time.verdict == Verdict::unclear; });
  if (!command.fail_if_slower.empty() && unclear > 0) {
    note("lloyd: unclear: {} of {}\n", unclear,
         format_count(std::ssize(comparison.rows), "setting"));
  }
  if (fails) note("lloyd: slower by more than {}\n", command.fail_if_slower);
  return fails ? kFailed : kDone;
}

// --run takes up to two values, so it may have taken RECORDS that follow it.
void check_runs(const CompareCommand& command) {
  std::error_code error;
  for (const std::string& run : command.runs) {
    if (run == "last" || !fs::exists(run, error)) continue;
    throw InputError(
        fmt::format("--run has '{}', which is a file or folder: it takes up to two "
                    "identifiers of runs, so RECORDS stand before it",
                    shown(run)));
  }
}

int compare_command(CompareCommand command) {
  check_runs(command);
  // Two runs of one file.
  if (command.runs.size() > command.records.size()) command.records.push_back(command.records[0]);
  for (const fs::path& records : command.records) refuse_overwriting({}, {records_file(records)});
  const ChosenRun older = open_run(command, 0);
  if (command.records.size() == 1) {
    const std::vector<std::string> backends = choose_backends(command, older);
    return print_comparison(command, compare_variants(older.run.fits, backends[0], backends[1]),
                            older, older);
  }
  if (!command.backends.empty()) {
    throw InputError("--backends compares two backends of one file of records, not of two");
  }
  const ChosenRun newer = open_run(command, 1);
  if (are_the_same(older.run, newer.run)) {
    note("lloyd: both are the same run, {}\n", newer.run.id);
  }
  return print_comparison(command, compare_recorded_runs(older.run.fits, newer.run.fits), older,
                          newer);
}

}  // namespace

void add_compare_command(CLI::App& app, Context& context) {
  auto* sub = app.add_subcommand(
      "compare", "Compare two recorded runs, or two backends of one: faster, slower or the same?");
  auto command = std::make_shared<CompareCommand>();
  sub->add_option(
         "RECORDS", command->records,
         "One or two record files of 'lloyd run', or their folders: the old run and the new "
         "one, or one run of which two backends are compared")
      ->required()
      ->expected(1, 2);
  sub->add_option("--backends", command->backends,
                  "With one RECORDS: the labels of the two backends, the old one first (default: "
                  "the only two, the baseline first)")
      ->expected(2);
  sub->add_option(
         "--run", command->runs,
         "Run to take from RECORDS: an identifier, its beginning or 'last' (default); two values: "
         "one run of each RECORDS, or two of a single one")
      ->expected(1, 2);
  sub->add_option(
         "--fail-if-slower", command->fail_if_slower,
         "Exit with status 1 if a setting is slower and the lower end of its interval exceeds "
         "this percentage, such as 5%; unclear settings do not fail, but are counted on standard "
         "error")
      ->check(check_percentage);
  sub->add_option("--format", command->format, "text, markdown, csv or json")
      ->check(CLI::IsMember({"text", "markdown", "csv", "json"}));
  sub->add_flag("--json", command->json, "The same as --format json");
  sub->callback(
      [&context, command] { context.action = [command] { return compare_command(*command); }; });
}

}  // namespace lloyd::apps
