// Supervision: a command that loads plugins into its own process goes on in a child process, and
// the process that was started tells how that ended.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>

#include <lloyd/registry.hpp>

namespace lloyd::apps {

/// Thrown by supervise() in the supervising process, whose work is done.
struct SupervisedEnd {
  int status;  ///< what the program is to end with
};

/// Where a supervised child makes temporary files.
enum class Scratch {
  shared,  ///< where this process does
  own,     ///< in a folder that is removed with the child
};

/// Forks, and returns in the child, which goes on with the command: it has the same standard input
/// and output and process group, and messages go where they went. What else it writes to standard
/// error, a plugin's words for example, is made printable on the way. It is killed, with all that
/// plugins have started in it, when this process ends, see run_supervised().
///
/// In this process it waits for the child, hands SIGINT, SIGTERM, SIGHUP and SIGQUIT on unless they
/// are ignored, and throws SupervisedEnd. The child is killed:
/// - where loading a plugin, or any call of it but open(), fit(), label(), partial() and seeding,
///   takes longer than `limit`, and where the process does so after it has reported its end;
/// - after a signal, where a call of a plugin does not return within the shorter of `limit` and
///   kMaxRequestGrace;
/// - after a signal, where it uses no processor time outside of such calls for twice that time;
/// - one second after a second signal.
///
/// A child that ends without report_end(), or otherwise than it has reported, or in a call of a
/// plugin, or that was killed, has been ended by a plugin: that is said on standard error, and the
/// status is kFailed. A signal that was handed on, and SIGPIPE, end this process as they ended the
/// child.
///
/// The folder of Scratch::own is TMPDIR for the child and what it starts; it is removed even where
/// all of them are killed.
///
/// Call it while this process has one thread and no plugin. Throws Error where there can be no
/// further process.
void supervise(std::chrono::seconds limit, Scratch scratch = Scratch::shared);

/// What a plugin is given to return from a call after the first signal.
inline constexpr std::chrono::seconds kMaxRequestGrace{10};

/// As load_plugin(), in a supervised child. The supervisor ends a plugin that takes too long, here
/// or in a call, and knows by what name to blame it. What the plugin prints meanwhile goes to
/// standard error.
std::shared_ptr<const LoadedBackend> load_supervised(const std::filesystem::path& file);

/// Says on standard error that the command has failed: "lloyd: <sentence>". In a supervised child
/// the supervisor says it, whatever a plugin has made of the child's descriptors.
void report_failure(std::string_view sentence);

/// In a supervised child: it has done its work and is about to end with this status. Elsewhere
/// without effect. May be called in a signal handler.
void report_end(int status) noexcept;
/// As report_end(), for a process that ends at once, even within a call of a plugin: the plugin is
/// not to blame.
void report_own_end(int status) noexcept;

}  // namespace lloyd::apps
