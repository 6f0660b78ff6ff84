// lloyd: the command line.
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <lloyd/error.hpp>
#include <lloyd/suggestion.hpp>

#include "context.hpp"
#include "interrupt.hpp"

namespace {

// One sentence for what CLI11 could not parse. It calls a misspelt subcommand a missing one.
std::string usage_error(const CLI::App& app, int argc, char** argv, const CLI::ParseError& error) {
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()) {
    std::vector<std::string> known;
    for (const CLI::App* subcommand : app.get_subcommands(nullptr)) {
      known.push_back(subcommand->get_name());
    }
    return fmt::format("unknown subcommand '{}'{}", argv[1], lloyd::suggestion(argv[1], known));
  }
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message + "; 'lloyd --help' lists what there is";
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lloyd;

  CLI::App app("Lloyd: k-means clustering with plugin backends");
  app.set_version_flag("--version", "lloyd " LLOYD_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  apps::Context context;
  app.add_option("--plugin-dir", context.plugin_folders,
                 "Look for plugins in this folder first (may be repeated)");
  apps::add_run_command(app, context);
  apps::add_fit_command(app, context);
  apps::add_predict_command(app, context);
  apps::add_backends_command(app, context);
  apps::add_verify_command(app, context);
  apps::add_data_command(app, context);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    fmt::print(stderr, "lloyd: {}\n", usage_error(app, argc, argv, error));
    return apps::kBadInput;
  }

  try {
    const int status = context.action();
    if (std::fflush(stdout) != 0) throw Error("standard output cannot be written");
    return status;
  } catch (const InputError& error) {
    fmt::print(stderr, "lloyd: {}\n", error.what());
    return apps::kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "lloyd: out of memory\n");
    return apps::kFailed;
  } catch (const std::exception& error) {
    fmt::print(stderr, "lloyd: {}\n", error.what());
    return apps::interrupted() ? apps::kInterrupted : apps::kFailed;
  }
}
