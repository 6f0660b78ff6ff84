// Supervision: a command that loads plugins into its own process continues in a child process; the
// original process watches it and reports its end.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>

#include <lloyd/launched_ranks.hpp>
#include <lloyd/registry.hpp>

namespace lloyd::apps {

/// Thrown by supervise() in the supervising process after the child has ended.
struct SupervisedEnd {
  int status;  ///< exit status of the program
};

/// Folder of the temporary files of a supervised child.
enum class Scratch {
  shared,  ///< the folder of this process
  own,     ///< a folder of its own, removed when the child has ended
};

/// Forks. Returns in the child, which continues the command with the same standard input, standard
/// output, process group and message descriptor. Anything else written to its standard error, such
/// as plugin output, is made printable on its way. The child and all its descendants are killed
/// when this process ends, see run_supervised().
///
/// In the calling process, waits for the child, forwards SIGINT, SIGTERM, SIGHUP and SIGQUIT unless
/// they are ignored, and throws SupervisedEnd. The child is killed:
/// - if loading a plugin, or any call into it except open(), fit(), label(), partial() and seeding,
///   takes longer than `limit`, or if the child runs longer than `limit` after report_end();
/// - after a signal, if a plugin call does not return within min(`limit`, kMaxRequestGrace);
/// - after a signal, if outside of plugin calls it neither uses processor time nor is in
///   uninterruptible sleep for twice that time;
/// - one second after a second signal.
///
/// A child that ends without report_end(), with another status than reported, during a plugin call,
/// or by the kill above counts as ended by a plugin: this is reported on standard error, and the
/// status is kFailed. If a forwarded signal or SIGPIPE ended the child, it ends this process too.
///
/// The folder of Scratch::own is TMPDIR of the child and its descendants; it is removed even if all
/// of them are killed.
///
/// Call it while this process has a single thread and no plugin loaded. Throws Error if the child
/// cannot be started. Flushes the results first, and throws as flush_results() does.
void supervise(std::chrono::seconds limit, Scratch scratch = Scratch::shared);

/// Maximum time for a plugin call to return after the first signal.
inline constexpr std::chrono::seconds kMaxRequestGrace{10};

/// Like load_plugin(), in a supervised child. Marks the load and all later calls, so that the
/// supervisor can enforce its limits and name the plugin. Output of the plugin goes to standard
/// error.
std::shared_ptr<const LoadedBackend> load_supervised(const std::filesystem::path& file);

/// Like join_ranks(), in a supervised child: joining counts as loading a plugin.
std::shared_ptr<Communicator> join_supervised(const LaunchedJob& job);

/// In a supervised child: where and when it works, such as "rank 2 on node1, after iteration 17".
/// The supervisor's message about an unexpected end begins with it. No effect elsewhere.
void set_place(std::string_view place) noexcept;

/// Reports on standard error that the command has failed: "lloyd: <sentence>". In a supervised
/// child the supervisor prints it, so that it appears even if a plugin has closed the child's
/// descriptors.
void report_failure(std::string_view sentence);

/// Says why this process is about to end by a signal. A supervised child tells its supervisor,
/// whose message then ends with "since <reason>"; other processes write the reason to standard
/// error. Async-signal-safe.
void report_reason(const char* reason) noexcept;

/// In a supervised child: declares that the work is done and that the process is about to end with
/// this status. No effect elsewhere. Async-signal-safe.
void report_end(int status) noexcept;
/// Like report_end(), but also clears the call mark, for a process that ends at once inside a
/// plugin call for which the plugin is not to blame.
void report_own_end(int status) noexcept;

}  // namespace lloyd::apps
