// IsolatedPlugins: backends whose plugins are loaded in other processes only.
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

/// Seconds that a plugin is given to load, and to answer a question, unless the user says
/// otherwise.
inline constexpr std::int64_t kPluginTimeout = 60;

/// Loads each plugin in a process of its own. The backends that it makes describe themselves, and
/// answer supports() and estimate() where they are kept for questions; open() is refused.
class IsolatedPlugins {
 public:
  /// What the processes are for: a description only, after which they end; or questions too.
  enum class Use { description, questions };

  explicit IsolatedPlugins(std::chrono::seconds limit, Use use = Use::description);
  ~IsolatedPlugins();
  IsolatedPlugins(const IsolatedPlugins&) = delete;
  IsolatedPlugins& operator=(const IsolatedPlugins&) = delete;

  /// For a registry, which must not outlive this object.
  PluginLoader loader();
  /// Ends the processes, and waits for that: there are no more questions.
  void finish();
  /// Those that some plugin's process has loaded, each once.
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
