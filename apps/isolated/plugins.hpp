// IsolatedPlugins: backends whose plugins are loaded in separate processes only.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include <lloyd/registry.hpp>

#include "machine/system/openmp_runtimes.hpp"

namespace lloyd::isolated {

class PluginProcess;

/// Default of --plugin-timeout: seconds for loading a plugin and for each answer.
inline constexpr std::int64_t kPluginTimeout = 60;

/// Loads each plugin in a separate process. The resulting backends provide their description and,
/// with Use::questions, supports() and estimate(); open() returns `unsupported`.
class IsolatedPlugins {
 public:
  /// `description`: a process ends after it has described its plugin. `questions`: it stays for
  /// supports() and estimate().
  enum class Use { description, questions };

  explicit IsolatedPlugins(std::chrono::seconds limit, Use use = Use::description);
  ~IsolatedPlugins();
  IsolatedPlugins(const IsolatedPlugins&) = delete;
  IsolatedPlugins& operator=(const IsolatedPlugins&) = delete;

  /// Loader for a Registry. This object must outlive the registry.
  PluginLoader loader();
  /// Ends all processes and waits for their end. No questions afterwards.
  void finish();
  /// The runtimes loaded in any plugin's process, without duplicates.
  std::vector<machine::OpenmpRuntime> openmp_runtimes() const;

 private:
  std::shared_ptr<PluginProcess> process_of(const std::filesystem::path& file);
  std::unique_ptr<LoadedBackend> load(const std::filesystem::path& file);
  void prepare(const std::vector<std::filesystem::path>& files);

  std::chrono::seconds limit_;
  Use use_;
  std::map<std::filesystem::path, std::shared_ptr<PluginProcess>> processes_;
};

}  // namespace lloyd::isolated
