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

/// True if a file in the folder is named like a plugin, or if the folder cannot be read.
inline bool has_plugin_file(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("lloyd_") && name.ends_with(".so")) return true;
  }
  return static_cast<bool>(error);
}

/// Filled by the command line's parser; `action` is run after it.
struct Context {
  std::vector<std::filesystem::path> plugin_folders;       ///< --plugin-dir
  std::int64_t plugin_timeout = isolated::kPluginTimeout;  ///< --plugin-timeout, seconds
  std::function<int()> action;

  std::chrono::seconds plugin_limit() const { return std::chrono::seconds(plugin_timeout); }
  /// Registry that loads plugins in separate processes. `plugins` must outlive it. Notes the
  /// ignored entries of LLOYD_PLUGIN_PATH, and the folders of --plugin-dir without plugins, on
  /// standard error. Throws Error if the folder of this program, which is searched for plugins, is
  /// unknown.
  Registry registry(isolated::IsolatedPlugins& plugins) const {
    program_file();
    for (const std::string& entry : Registry::ignored_entries()) {
      note("lloyd: LLOYD_PLUGIN_PATH: '{}' is ignored; write the folder's full path\n", entry);
    }
    for (const std::filesystem::path& folder : plugin_folders) {
      if (has_plugin_file(folder)) continue;
      note("lloyd: --plugin-dir: {} has no file lloyd_NAME.so; its subfolders are not searched\n",
           folder.string());
    }
    return Registry(Registry::default_folders(plugin_folders), plugins.loader());
  }
};

}  // namespace lloyd::apps
