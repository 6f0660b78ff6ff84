// Supervision: a command that loads plugins into its own process goes on in a child process, and
// the process that was started tells how that ended.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include <lloyd/registry.hpp>

namespace lloyd::apps {

/// Thrown by supervise() in the supervising process, whose work is done.
struct SupervisedEnd {
  int status;  ///< what the program is to end with
};

/// Forks, and returns in the child, which goes on with the command: it has the same standard
/// streams and process group, and is killed when this process dies. In this process it waits for
/// the child, hands SIGINT, SIGTERM and SIGHUP on, and throws SupervisedEnd. A child that is still
/// there one second after a second request is killed.
///
/// A child that ends without report_end(), or otherwise than it has reported, has been ended by a
/// plugin: that is said on standard error, and the status is kFailed. A signal that was handed on,
/// and SIGPIPE, end this process as they ended the child.
///
/// Call it while this process has one thread and no plugin. `limit` is for each plugin to load.
/// Throws Error where there can be no further process.
void supervise(std::chrono::seconds limit);

/// As load_plugin(). The supervisor, where there is one, ends a plugin that takes too long, and
/// knows by what name to blame it. What the plugin prints meanwhile goes to standard error.
std::shared_ptr<const LoadedBackend> load_supervised(const std::filesystem::path& file);

/// In a supervised child: it has done its work and is about to end with this status. Elsewhere
/// without effect. May be called in a signal handler.
void report_end(int status) noexcept;

}  // namespace lloyd::apps
