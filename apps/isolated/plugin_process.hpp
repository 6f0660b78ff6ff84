// PluginProcess: a process that has loaded one plugin and answers for it.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "isolated/messages.hpp"
#include "workers/worker_process.hpp"

namespace lloyd::isolated {

/// The plugin's library is loaded there and nowhere else, so whatever it does to its process
/// becomes one sentence here. Thread-safe but for description().
class PluginProcess {
 public:
  /// Starts the process, which begins to load. `limit` is for loading, from now on, and for each
  /// question. Throws Error where there can be no further process.
  PluginProcess(std::filesystem::path file, std::chrono::seconds limit);

  /// Waits until the plugin is loaded. Throws InputError, one sentence that names the file, where
  /// it is refused, or has ended its process, or has not answered in time; Error where the process
  /// could not do its work. The same again each time.
  const Description& description();
  /// Whether description() has returned.
  bool described() const { return description_.has_value(); }
  /// Asks the backend. A plugin that does not survive a question, or answers none in time, is asked
  /// no more: that and all further questions have a status with the reason.
  Reply ask(const Question& question, const ParameterList& parameters);
  /// Lets the process end, without waiting for that; there are no more questions.
  void finish();
  /// finish(), and waits until the process has ended, but not for long: then it is killed. The
  /// destructor does so too.
  void wait_for_end();

 private:
  using Event = apps::WorkerProcess::Event;

  void receive_description();
  Event wait();
  std::string lost(Event event, std::string_view during);

  std::filesystem::path file_;
  std::chrono::seconds limit_;
  std::optional<apps::WorkerProcess> process_;  ///< none after wait_for_end()
  apps::WorkerProcess::Clock::time_point deadline_;
  std::optional<Description> description_;
  std::string refusal_;  ///< empty where there is none
  std::string failure_;  ///< why there are no more answers; likewise
  std::mutex mutex_;
};

}  // namespace lloyd::isolated
