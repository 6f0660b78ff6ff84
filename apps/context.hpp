// What every subcommand shares.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lloyd/registry.hpp>

#include "exit_status.hpp"
#include "isolated/plugins.hpp"
#include "output.hpp"
#include "worker_command.hpp"

namespace lloyd::apps {

/// Filled by the command line's parser; `action` is run after it.
struct Context {
  std::vector<std::filesystem::path> plugin_folders;       ///< --plugin-dir
  std::int64_t plugin_timeout = isolated::kPluginTimeout;  ///< --plugin-timeout, seconds
  std::function<int()> action;

  std::chrono::seconds plugin_limit() const { return std::chrono::seconds(plugin_timeout); }
  /// Loads plugins in processes of their own. `plugins` must outlive the registry. A note says
  /// which entries of LLOYD_PLUGIN_PATH are passed over. Throws Error where the folder of this
  /// program and its plugins cannot be told.
  Registry registry(isolated::IsolatedPlugins& plugins) const {
    program_file();
    for (const std::string& entry : Registry::ignored_entries()) {
      note("lloyd: LLOYD_PLUGIN_PATH: '{}' is not looked at; write the folder's full path\n",
           entry);
    }
    return Registry(Registry::default_folders(plugin_folders), plugins.loader());
  }
};

// Each adds one subcommand, whose callback sets `context.action`. Actions return an ExitStatus and
// throw InputError (status 2) or any other exception (status 1).
void add_run_command(CLI::App& app, Context& context);
void add_fit_command(CLI::App& app, Context& context);
void add_predict_command(CLI::App& app, Context& context);
void add_backends_command(CLI::App& app, Context& context);
void add_verify_command(CLI::App& app, Context& context);
void add_new_plugin_command(CLI::App& app, Context& context);
void add_data_command(CLI::App& app, Context& context);
void add_doctor_command(CLI::App& app, Context& context);
void add_report_command(CLI::App& app, Context& context);
void add_worker_command(CLI::App& app, Context& context);
void add_compare_command(CLI::App& app, Context& context);

}  // namespace lloyd::apps
