// Context: the options that every subcommand shares.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <lloyd/registry.hpp>

#include "isolated/plugins.hpp"
#include "output/output.hpp"
#include "workers/worker_command.hpp"

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

}  // namespace lloyd::apps
