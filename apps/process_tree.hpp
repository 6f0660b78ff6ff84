// The processes that a process has started, directly or through others.
#pragma once

#include <sys/types.h>

#include <vector>

namespace lloyd::apps {

/// The processes that `ancestor` has started and those that they have started, without zombies.
/// A process whose parent has ended belongs to its nearest ancestor that is a child subreaper,
/// otherwise to the first process of the system.
std::vector<pid_t> descendants_of(pid_t ancestor);

/// Whether the calling process has children, zombies included.
bool has_children();

/// Kills all of them, also those that are started meanwhile. Returns when none is left, or after
/// two seconds: a process that waits for a device cannot be killed before that answers.
void kill_descendants(pid_t ancestor);

}  // namespace lloyd::apps
