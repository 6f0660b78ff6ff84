// lloyd: the command line.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/plugin/abi/abi.hpp>

#include "commands/command_end.hpp"
#include "commands/commands.hpp"
#include "commands/usage_error.hpp"
#include "fit/ranks/launched_command.hpp"
#include "machine/processors/affinity.hpp"
#include "machine/system/system.hpp"
#include "output/output.hpp"
#include "process/process_tree.hpp"
#include "supervision/interrupt.hpp"
#include "text/whole_number.hpp"

namespace {

// The fault of an option with an empty value, most often an unset shell variable, which would
// otherwise count as an option not given; empty if there is none. --drop-columns '' leaves out a
// column whose name is empty.
std::string empty_value(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& values = option->results();
    if (option->check_lname("drop-columns")) continue;
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    return fmt::format("{} needs a value, not an empty text", option->get_name());
  }
  for (const CLI::App* subcommand : app.get_subcommands()) {
    if (std::string fault = empty_value(*subcommand); !fault.empty()) return fault;
  }
  return {};
}

// Lets an option that may be repeated take one value each time. CLI11's default is all arguments up
// to the next option: `-p threads=1 data.csv` would take the file.
void take_one_value_each(CLI::App& app) {
  for (CLI::Option* option : app.get_options({})) {
    if (option->nonpositional()) option->allow_extra_args(false);
  }
  for (CLI::App* subcommand : app.get_subcommands({})) take_one_value_each(*subcommand);
}

// Help without " ...", CLI11's mark of options that may be repeated: they take one value each time.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    constexpr std::string_view kRepeated = " ...";
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::size_t at = option->nonpositional() ? text.find(kRepeated) : std::string::npos;
    if (at != std::string::npos) text.erase(at, kRepeated.size());
    return text;
  }
};

// What --version prints. Reads the headers of the plugins, without loading them.
std::string version_text(const std::vector<std::filesystem::path>& plugin_folders) {
  const lloyd::Registry registry(lloyd::Registry::default_folders(plugin_folders));
  const std::vector<std::string> plugins = registry.names();
  const std::string commit = lloyd::machine::this_build().commit;
  return fmt::format("lloyd {}\ncommit   {}\nABI      {}.{}\nplugins  {}", LLOYD_VERSION,
                     commit.empty() ? "unknown" : commit, lloyd::kAbiMajor, lloyd::kAbiMinor,
                     plugins.empty() ? "none" : fmt::format("{}", fmt::join(plugins, ", ")));
}

// Opens /dev/null for closed standard streams. Otherwise the first file that the program opens
// would take their number, and messages would be written to it.
void open_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() returns this number, the lowest free one. Standard output is opened read-only, so that
    // writing results to it still fails.
    ::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Plugins and their libraries need more stack than this program. Without this check, a plugin would
// be blamed for the crash.
void require_stack() {
  constexpr rlim_t kMinBytes = 128 << 10;
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kMinBytes) return;
  throw lloyd::Error(
      fmt::format("the stack may have {} KiB, see 'ulimit -s'; at least {} are needed",
                  limit.rlim_cur >> 10, kMinBytes >> 10));
}

// Lists the options of the program that concern plugins in the help of the subcommands that load
// plugins.
void list_plugin_options(CLI::App& app) {
  for (const char* name : {"run", "fit", "predict", "backends", "new-plugin", "doctor"}) {
    app.get_subcommand(name)->footer(
        "Options for plugins:\n"
        "  --plugin-dir DIR            Search this folder for plugins first (may be repeated)\n"
        "  --plugin-timeout SECONDS    Time limit for a plugin to load, answer and exit\n\n" +
        app.get_footer());
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lloyd;
  open_standard_streams();
  std::signal(SIGCHLD, SIG_DFL);  // with SIG_IGN, exit statuses are lost
  apps::adopt_orphans();
  apps::install_cleanup_handler();
  machine::processors_at_start();  // records the affinity mask before any plugin is loaded

  CLI::App app("Lloyd: k-means clustering with plugin backends");
  app.formatter(std::make_shared<HelpFormatter>());  // before subcommands, which copy it
  app.require_subcommand(1);
  app.fallthrough();
  // Otherwise CLI11 accepts "--dry-run=no" as an unset flag, and the experiment would run.
  app.option_defaults()->disable_flag_override();
  apps::Context context;
  app.add_option("--plugin-dir", context.plugin_folders,
                 "Search this folder for plugins first (may be repeated)")
      ->check(CLI::ExistingDirectory);
  app.add_option("--plugin-timeout", context.plugin_timeout,
                 "Time limit, in seconds, for a plugin to load, answer and exit")
      ->check(apps::whole_number(1, 1000000))
      ->capture_default_str();
  // After --plugin-dir, which the parser then evaluates first.
  app.set_version_flag(
      "--version", [&context] { return version_text(context.plugin_folders); },
      "Print the versions of the program and the ABI, and the plugins found");
  app.footer(
      "Plugins are searched for in the folders of --plugin-dir, in those of the variable "
      "LLOYD_PLUGIN_PATH\n(absolute paths, separated by ':'), beside the program and in its "
      "../lib/lloyd.");
  apps::add_run_command(app, context);
  apps::add_report_command(app, context);
  apps::add_compare_command(app, context);
  apps::add_history_command(app, context);
  apps::add_fit_command(app, context);
  apps::add_predict_command(app, context);
  apps::add_backends_command(app, context);
  apps::add_verify_command(app, context);
  apps::add_new_plugin_command(app, context);
  apps::add_data_command(app, context);
  apps::add_doctor_command(app, context);
  apps::add_help_commands(app, context);
  apps::add_worker_command(app, context);
  apps::add_rank_command(app, context);
  list_plugin_options(app);
  take_one_value_each(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
      app.exit(error);
      if (std::cout.flush()) return apps::kDone;
      apps::note("lloyd: standard output cannot be written\n");
      return apps::kFailed;
    }
    return apps::run_to_end(
        [&] { return apps::fail_usage(app, context, apps::usage_error(app, argc, argv, error)); });
  }

  return apps::run_to_end([&] {
    if (const std::string empty = empty_value(app); !empty.empty()) {
      return apps::fail_usage(app, context, empty);
    }
    require_stack();
    return context.action();
  });
}
