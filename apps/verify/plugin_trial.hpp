// PluginTrial: runs the conformance suite on a plugin, isolated from this process.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "conformance/conformance.hpp"
#include "ipc/descriptor.hpp"
#include "supervision/supervision_board.hpp"
#include "workers/child_process.hpp"

namespace lloyd::apps {

/// Runs the suite's cases in a child process; only that loads the plugin. If the plugin ends the
/// process, or a case exceeds the time limit, the case fails and the next one runs in a new
/// process. The messages about these name the plugin's call that was running, the parameter value
/// that the case had set, and what the plugin printed last in the case.
class PluginTrial {
 public:
  /// `file` is absolute; `glob` selects cases; `limit` applies to loading and to each case. `stop`
  /// is polled at least ten times a second; true ends the process and the run.
  PluginTrial(std::filesystem::path file, std::string glob, std::chrono::seconds limit,
              std::function<bool()> stop);

  /// Loads the plugin. Returns an empty text on success, and plan() is valid then; else one
  /// sentence. Throws InputError if the plugin is refused, and Cancelled if stopped.
  std::string load();
  const conformance::Plan& plan() const { return plan_; }
  /// Runs a case; indices must ascend. No value if the run was stopped.
  std::optional<conformance::Result> run(std::size_t index);
  /// Number of cases so far that exceeded the time limit.
  int timeouts() const { return timeouts_; }
  /// Waits for the release of the backend and the end of the process, in which the plugin must not
  /// print to standard output. Empty on success or if there is no process; else one sentence.
  std::string finish();

 private:
  std::string start(std::size_t first, conformance::Plan& plan);
  std::string start_again(std::size_t first);
  std::string receive(conformance::Result& result);
  std::string lost(ChildProcess::Event event);
  ChildProcess::Event wait();

  std::filesystem::path file_;
  std::string glob_;
  std::chrono::seconds limit_;
  std::function<bool()> stop_;
  conformance::Plan plan_;
  int timeouts_ = 0;
  SupervisionBoard& board_ = SupervisionBoard::make();  ///< the child marks its calls there
  std::unique_ptr<ChildProcess> child_;
  Descriptor end_output_;  ///< of the child's process after it released the backend
};

}  // namespace lloyd::apps
