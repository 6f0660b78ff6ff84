// lloyd doctor: describes the machine, measures its ceilings, and warns of problems.
#include <memory>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "doctor/report.hpp"
#include "output/output.hpp"

namespace lloyd::apps {
namespace {

int diagnose(const Context& context, bool quick, bool json) {
  isolated::IsolatedPlugins plugins(context.plugin_limit());
  Registry registry = context.registry(plugins);
  const DoctorReport report = examine(registry, plugins, !quick);
  if (json) {
    print_json(doctor_json(report));
  } else {
    print_text("{}", doctor_text(report));
  }
  return report.usable() ? kDone : kFailed;
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "doctor", "Describe this machine, measure its peak rates, and report problems");
  auto quick = std::make_shared<bool>(false);
  auto json = std::make_shared<bool>(false);
  command->add_flag("--quick", *quick, "Skip the measurements");
  command->add_flag("--json", *json, "Print JSON");
  command->callback([&context, quick, json] {
    context.action = [&context, quick, json] { return diagnose(context, *quick, *json); };
  });
}

}  // namespace lloyd::apps
