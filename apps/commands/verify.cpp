// lloyd verify: runs the conformance suite on one plugin file, in a separate process.
#include <string.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/registry.hpp>

#include "commands/commands.hpp"
#include "conformance/conformance.hpp"
#include "output/output.hpp"
#include "progress/stage_line.hpp"
#include "supervision/interrupt.hpp"
#include "text/numbers.hpp"
#include "text/whole_number.hpp"
#include "verify/conformance_json.hpp"
#include "verify/failure_groups.hpp"
#include "verify/memory_errors.hpp"
#include "verify/plugin_trial.hpp"

namespace lloyd::apps {
namespace {

using Json = nlohmann::ordered_json;

// A plugin that hangs may hang in every case.
constexpr int kMaxTimeouts = 3;

struct VerifyArguments {
  std::filesystem::path file;
  std::vector<std::string> cases;
  conformance::Options options;
  std::int64_t timeout = 120;  // seconds for each case; enough for a sanitizer on a slow machine
  bool json = false;
  bool list = false;
};

// Reads the plugin's descriptor without loading the plugin.
struct Subject {
  std::filesystem::path file;
  std::string backend;
  std::string version;
};

Subject read_subject(const std::filesystem::path& given) {
  try {
    const std::filesystem::path file = std::filesystem::absolute(given);
    const PluginHeader header = read_plugin_header(file);
    const std::size_t length = ::strnlen(header.version, sizeof(header.version));
    return {file, header.name, printable({header.version, length})};
  } catch (const std::filesystem::filesystem_error& error) {
    throw InputError(fmt::format("{} cannot be found from the working directory: {}",
                                 given.string(), error.code().message()));
  }
}

// Prints the outcome in a column of 8 characters, in colour on a terminal.
void print_outcome(conformance::Outcome outcome) {
  const std::string text = fmt::format("{:<8}", conformance::to_string(outcome));
  if (!shows_colour(result_descriptor()) || outcome == conformance::Outcome::skipped) {
    write_result(text);
  } else {
    write_result(
        coloured(text, outcome == conformance::Outcome::passed ? Colour::green : Colour::red));
  }
}

// Prints a result. A failure with the cause of an earlier one names the case of that instead of
// repeating the message.
void print_result(const conformance::Result& result, FailureGroups& failures) {
  print_outcome(result.outcome);
  print_text("{}", result.name);
  const std::string text = result.outcome == conformance::Outcome::failed
                               ? describe_failure(result, failures.add(result))
                               : result.message;
  if (!text.empty()) print_text(": {}", text);
  print_text("\n");
  flush_results();  // show finished cases now: the next may take long
}

void print_failures(const FailureGroups& failures) {
  print_text("\nfailed:\n");
  for (const FailureGroups::Group& group : failures.groups()) {
    print_text("{}", describe_group(group));
  }
  print_text("\n");
}

void print_hint(const conformance::Report& report) {
  const auto count = std::count_if(report.results.begin(), report.results.end(),
                                   [](const conformance::Result& result) {
                                     return result.outcome == conformance::Outcome::failed &&
                                            suggests_memory_error(result.message);
                                   });
  if (count == 0) return;
  print_text(
      "hint: {} as if the plugin accesses memory out of bounds or corrupts its heap. "
      "AddressSanitizer finds the place: compile the plugin with -fsanitize=address, then "
      "LD_PRELOAD=$(g++ -print-file-name=libasan.so) lloyd verify PLUGIN. See 'When a case fails' "
      "in "
      "docs/write_a_backend.md\n\n",
      count == 1 ? std::string("1 case failed") : fmt::format("{} cases failed", count));
}

void print_summary(const Subject& subject, const conformance::Report& report,
                   const FailureGroups& failures) {
  if (report.failed > 0 && report.results.size() > 1) print_failures(failures);
  print_hint(report);
  if (!report.unavailable.empty()) {
    print_text("{}: nothing was verified: the backend is unavailable: {}\n", subject.backend,
               report.unavailable);
    return;
  }
  print_text("{} {}: {} passed, {} failed, {} skipped\n", subject.backend, subject.version,
             report.passed, report.failed, report.skipped);
  if (interrupted()) {
    note("lloyd: interrupted; the remaining cases were not run\n");
  } else if (report.passed == 0 && report.failed == 0) {
    print_text("nothing was verified: every case was skipped\n");
  }
}

Json report_json(const Subject& subject, const conformance::Report& report,
                 const std::string& stopped) {
  Json json = {{"file", subject.file.string()}, {"backend", subject.backend},
               {"version", subject.version},    {"verified", report.verified()},
               {"passed", report.passed},       {"failed", report.failed},
               {"skipped", report.skipped}};
  if (interrupted()) json["interrupted"] = true;
  if (!stopped.empty()) json["stopped"] = stopped;
  if (!report.unavailable.empty()) json["unavailable"] = report.unavailable;
  json["results"] = Json::array();
  for (const conformance::Result& result : report.results) {
    json["results"].push_back(to_json(result));
  }
  return json;
}

// Runs the cases. If it gives up because cases hang, `stopped` becomes a sentence that says so.
conformance::Report run_trial(const Subject& subject, const VerifyArguments& arguments,
                              const conformance::Reporter& reporter, std::string& stopped) {
  conformance::Report report;
  const auto fail = [&](const char* name, const std::string& message) {
    if (message.empty()) return;
    conformance::add_result(report, {name, conformance::Outcome::failed, message, 0}, reporter);
  };
  PluginTrial trial(subject.file, arguments.options.glob, std::chrono::seconds(arguments.timeout),
                    interrupted);
  const std::string failure = trial.load();
  if (!failure.empty()) {
    fail("load", failure);
    return report;
  }
  if (trial.plan().cases.empty()) {
    throw InputError(fmt::format("no case matches '{}'", arguments.options.glob));
  }
  for (const std::string& glob : arguments.cases) {
    // A backend without a supported data type has only the case data-types, whatever the pattern.
    const auto is_match = [&](const conformance::PlannedCase& planned) {
      return conformance::matches(glob, planned) || planned.case_name == "data-types";
    };
    const std::vector<conformance::PlannedCase>& cases = trial.plan().cases;
    if (std::any_of(cases.begin(), cases.end(), is_match)) continue;
    throw InputError(fmt::format("no case matches '{}'", glob));
  }
  conformance::Options options = arguments.options;
  options.stop = interrupted;
  StageLine line;
  report = conformance::run_plan(
      trial.plan(),
      [&](std::size_t index) -> std::optional<conformance::Result> {
        const std::int64_t rest = std::ssize(trial.plan().cases) - static_cast<std::int64_t>(index);
        if (trial.timeouts() >= kMaxTimeouts) {
          stopped = fmt::format(
              "{} cases took longer than {} s each, so the rest was not run ({}); --timeout sets "
              "the limit, --case selects cases",
              trial.timeouts(), arguments.timeout, format_count(rest, "case"));
          return std::nullopt;
        }
        line.update("verifying", static_cast<std::int64_t>(index), std::ssize(trial.plan().cases));
        auto result = trial.run(index);
        line.clear();  // the result may be printed to the same terminal
        return result;
      },
      options, reporter);
  if (!interrupted()) fail("exit", trial.finish());
  return report;
}

int list_cases() {
  for (const std::string& name : conformance::case_names()) print_text("{}\n", name);
  return kDone;
}

int verify(const VerifyArguments& arguments) {
  const Subject subject = read_subject(arguments.file);
  install_interrupt_handler();
  FailureGroups failures;
  conformance::Reporter reporter;
  if (!arguments.json) {
    reporter = [&](const conformance::Result& result) { print_result(result, failures); };
  }
  std::string stopped;
  const conformance::Report report = run_trial(subject, arguments, reporter, stopped);
  if (arguments.json) {
    print_json(report_json(subject, report, stopped));
  } else {
    print_summary(subject, report, failures);
  }
  if (!stopped.empty()) note("lloyd: {}\n", stopped);
  if (interrupted()) return kInterrupted;
  const bool excused =
      !report.unavailable.empty() && report.failed == 0 && !arguments.options.require_available;
  return report.verified() || excused ? kDone : kFailed;
}

}  // namespace

void add_verify_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("verify", "Run the conformance suite on a plugin");
  auto arguments = std::make_shared<VerifyArguments>();
  auto* file = command->add_option("FILE", arguments->file, "The plugin, a shared library");
  command->add_flag("--list", arguments->list, "List the names of all cases, without FILE")
      ->excludes(file);
  command->add_option("--case", arguments->cases,
                      "Run only the cases that match this pattern of '*' and '?', e.g. 'empty/*'; "
                      "repeatable");
  command
      ->add_option(
          "--timeout", arguments->timeout,
          "Time limit, in seconds, of each case and of loading the plugin; after three cases "
          "that exceed it, the rest are not run")
      ->check(whole_number(1, 1000000))
      ->capture_default_str();
  command->add_flag("--require-available", arguments->options.require_available,
                    "Fail if the backend is unavailable on this machine");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([&context, arguments] {
    if (arguments->list) {
      context.action = list_cases;
      return;
    }
    if (arguments->file.empty()) throw CLI::RequiredError("FILE");
    if (!arguments->cases.empty()) {
      arguments->options.glob = fmt::format("{}", fmt::join(arguments->cases, ","));
    }
    context.action = [arguments] { return verify(*arguments); };
  });
}

}  // namespace lloyd::apps
