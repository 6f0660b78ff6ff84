// Supervisor: a process that runs only Lloyd's code, between a process and its child that runs a
// plugin.
#pragma once

#include <sys/types.h>

namespace lloyd::apps {

/// Process group of a supervised child.
enum class ChildGroup {
  own,      ///< it leads its own group: terminal signals do not reach it
  parents,  ///< the group of `parent`; the supervisor leads a group of its own
};

/// Forks. Returns in the child, which continues the work of this process. The calling process
/// becomes the supervisor and does not return:
/// - It is the ancestor of every process that the child starts, in any session or group, and kills
///   them when the child ends or when `parent`, the process that started this one, ends. The
///   plugin's signal masks and handlers do not affect this.
/// - It ends like the child: with the same exit status or signal.
/// - It forwards SIGHUP, SIGINT, SIGQUIT and SIGTERM from `parent` to the child; one of these
///   signals from another sender ends the child and the supervisor.
/// The child is killed if its supervisor is killed. Call this while the process has a single
/// thread. Throws Error if fork(2) fails.
void run_supervised(pid_t parent, ChildGroup group = ChildGroup::own);

}  // namespace lloyd::apps
