// lloyd verify: the conformance suite on one plugin file.
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/error.hpp>
#include <lloyd/registry.hpp>

#include "conformance/conformance.hpp"
#include "context.hpp"
#include "interrupt.hpp"
#include "output.hpp"

namespace lloyd::apps {
namespace {

using Json = nlohmann::ordered_json;

struct VerifyArguments {
  std::filesystem::path file;
  conformance::Options options;
  bool json = false;
};

void print_result(const conformance::Result& result) {
  fmt::print("{:<8}{}", conformance::to_string(result.outcome), result.name);
  if (!result.message.empty()) fmt::print(": {}", result.message);
  fmt::print("\n");
  std::fflush(stdout);  // a plugin that crashes leaves the line of the case before
}

void print_summary(const LoadedBackend& backend, const conformance::Report& report) {
  if (!report.unavailable.empty()) {
    fmt::print("{}: nothing was verified: the backend is unavailable: {}\n", backend.name(),
               report.unavailable);
    return;
  }
  fmt::print("{} {}: {} passed, {} failed, {} skipped\n", backend.name(), backend.version(),
             report.passed, report.failed, report.skipped);
  if (report.passed == 0 && report.failed == 0) {
    fmt::print("nothing was verified: every case was skipped\n");
  }
}

Json report_json(const LoadedBackend& backend, const conformance::Report& report) {
  Json json = {{"file", backend.path().string()}, {"backend", backend.name()},
               {"version", backend.version()},    {"verified", report.verified()},
               {"passed", report.passed},         {"failed", report.failed},
               {"skipped", report.skipped}};
  if (!report.unavailable.empty()) json["unavailable"] = report.unavailable;
  json["results"] = Json::array();
  for (const conformance::Result& result : report.results) {
    Json entry = {{"name", result.name},
                  {"outcome", conformance::to_string(result.outcome)},
                  {"elapsed_ms", result.elapsed_ms}};
    if (!result.message.empty()) entry["message"] = result.message;
    json["results"].push_back(std::move(entry));
  }
  return json;
}

std::unique_ptr<LoadedBackend> load(const std::filesystem::path& file) {
  try {
    return load_plugin(file);
  } catch (const std::filesystem::filesystem_error& error) {
    throw InputError(fmt::format("{} cannot be found from the working directory: {}", file.string(),
                                 error.code().message()));
  }
}

int verify(const VerifyArguments& arguments) {
  const auto backend = load(arguments.file);
  conformance::Options options = arguments.options;
  install_interrupt_handler();
  options.stop = [] { return interrupted(); };
  const conformance::Report report =
      conformance::run(*backend, options, arguments.json ? conformance::Reporter() : print_result);
  if (report.matched == 0) {
    throw InputError(fmt::format("no case matches '{}'", arguments.options.glob));
  }
  if (arguments.json) {
    print_json(report_json(*backend, report));
  } else {
    print_summary(*backend, report);
  }
  if (interrupted()) return kInterrupted;
  const bool excused =
      !report.unavailable.empty() && report.failed == 0 && !options.require_available;
  return report.verified() || excused ? kDone : kFailed;
}

}  // namespace

void add_verify_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("verify", "Run the conformance suite on a plugin");
  auto arguments = std::make_shared<VerifyArguments>();
  command->add_option("FILE", arguments->file, "The plugin, a shared library")->required();
  command->add_option("--case", arguments->options.glob,
                      "Run only the cases that match, with '*' and '?', e.g. 'empty/*'");
  command->add_flag("--require-available", arguments->options.require_available,
                    "Fail when the backend is unavailable here");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback(
      [&context, arguments] { context.action = [arguments] { return verify(*arguments); }; });
}

}  // namespace lloyd::apps
