// The processes that a process has started, directly or through others.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace lloyd::apps {

/// The processes that `ancestor` has started and those that they have started, without zombies.
/// A process whose parent has ended belongs to its nearest ancestor that is a child subreaper,
/// otherwise to the first process of the system.
std::vector<pid_t> descendants_of(pid_t ancestor);

/// Whether the calling process has children, zombies included.
bool has_children();

/// Kills all of them, also those that are started meanwhile, but for children of `ancestor` that
/// are in `spared` and what those have started. Returns when none is left, or after two seconds: a
/// process that waits for a device cannot be killed before that answers.
void kill_descendants(pid_t ancestor, const std::set<pid_t>& spared = {});

/// From now on what a descendant of this process leaves behind belongs to this process, unless the
/// process has children already: those came with the program, by a shell's exec, and cannot be told
/// from what is left behind. A forked child does not inherit that.
void adopt_orphans();

/// After adopt_orphans(): kills what was left to this process, that is, its descendants as in
/// kill_descendants(). `own`: the children that it has started itself.
void kill_orphans(const std::set<pid_t>& own);

}  // namespace lloyd::apps
