// PluginProcess: a child process that loads one plugin and answers questions about it.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "isolated/messages.hpp"
#include "workers/worker_process.hpp"

namespace lloyd::isolated {

/// The plugin's library is loaded only in that process; a crash or hang of it is reported as one
/// sentence. Thread-safe except for description().
class PluginProcess {
 public:
  /// Starts the process, which begins to load the plugin. `limit`: time for loading, counted from
  /// here, and for each question. Throws Error if the process cannot be started.
  PluginProcess(std::filesystem::path file, std::chrono::seconds limit);

  /// Waits until the plugin is loaded. Throws InputError, one sentence that names the file, if the
  /// plugin is refused, ends its process, or exceeds the limit; Error if the process failed for
  /// another reason. Further calls return or throw the same.
  const Description& description();
  /// True after description() has returned.
  bool described() const { return description_.has_value(); }
  /// Sends a question and waits for the reply. If the plugin crashes or exceeds the limit, this and
  /// all further replies have an error status with the reason.
  Reply ask(const Question& question, const ParameterList& parameters);
  /// Tells the process to end; does not wait. No questions afterwards.
  void finish();
  /// finish(), then waits for the end of the process for at most WorkerProcess::kGrace, then kills
  /// it. So does the destructor.
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
  std::string refusal_;  ///< error of description(); empty if there is none
  std::string failure_;  ///< why there are no more answers; empty if there is none
  std::mutex mutex_;
};

}  // namespace lloyd::isolated
