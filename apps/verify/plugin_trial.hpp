// PluginTrial: the conformance suite on a plugin that may do anything to the process it is in.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "conformance/conformance.hpp"
#include "workers/child_process.hpp"

namespace lloyd::apps {

/// Runs the suite's cases in a child process, which is the only one that loads the plugin. Where
/// the plugin ends that process, or a case takes too long, the case has failed, and the next one is
/// run in a new process.
class PluginTrial {
 public:
  /// `file` is absolute; `glob` selects cases; `limit` is that of each case and of loading.
  /// `stop` is asked all the time; true ends the process and the run.
  PluginTrial(std::filesystem::path file, std::string glob, std::chrono::seconds limit,
              std::function<bool()> stop);

  /// Loads the plugin. Empty where that went well, and plan() holds then; else one sentence. Throws
  /// InputError where the plugin is refused, and Cancelled.
  std::string load();
  const conformance::Plan& plan() const { return plan_; }
  /// Runs a case; the indices are to rise. Nothing where the run was stopped.
  std::optional<conformance::Result> run(std::size_t index);
  /// Lets the process end. Empty where it does so as it should or is not there; else one sentence.
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
  std::unique_ptr<ChildProcess> child_;
};

}  // namespace lloyd::apps
