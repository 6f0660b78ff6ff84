// A supervisor: a process of Lloyd's own code between a process and a child that runs a plugin.
#pragma once

#include <sys/types.h>

namespace lloyd::apps {

/// The process group that a supervised child is in.
enum class ChildGroup {
  own,      ///< it leads one: signals of a terminal do not reach it
  parents,  ///< that of `parent`, and the supervisor leads one
};

/// Forks, and returns in the child, which goes on with what this process was started for. What was
/// this process becomes the supervisor and does not return:
/// - It is the ancestor of all that the child starts, in whatever session or group, and kills it
///   when the child ends or when `parent`, the process that has started this one, does. No signal
///   mask or handler of a plugin has a part in that.
/// - It ends as the child did, with the same exit status or signal.
/// - It passes on SIGHUP, SIGINT, SIGQUIT and SIGTERM from `parent`; such a signal from another
///   sender ends child and supervisor.
/// The child is killed should its supervisor be killed. Call it while this process has one thread.
/// Throws Error where there can be no further process.
void run_supervised(pid_t parent, ChildGroup group = ChildGroup::own);

}  // namespace lloyd::apps
