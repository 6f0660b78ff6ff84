// Descendants of a process.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace lloyd::apps {

/// All descendants of `ancestor` except zombies. The kernel reparents a process whose parent has
/// ended to its nearest ancestor that is a child subreaper, otherwise to process 1.
std::vector<pid_t> descendants_of(pid_t ancestor);

/// True if the calling process has children, including zombies.
bool has_children();

/// True if a thread of the process is in uninterruptible sleep: it waits for a device, a network
/// file system, or a vfork(). False if /proc cannot be read.
bool sleeps_uninterruptibly(pid_t process);

/// Kills all descendants of `ancestor`, including those started meanwhile, except its children in
/// `spared` and their descendants. Returns when none is left, or after two seconds: a process in
/// uninterruptible sleep (waiting for a device) cannot be killed.
void kill_descendants(pid_t ancestor, const std::set<pid_t>& spared = {});

/// True if all orphans that this process would adopt are its descendants. False if it already has
/// children and adopt_orphans() was not called before, since these may be children that were
/// inherited through a shell's exec and could not be told from orphans, and for process 1 of a
/// container, which also receives the orphans of processes that were started in the container from
/// outside.
bool can_adopt_orphans();

/// If can_adopt_orphans(), makes this process the child subreaper, so that it adopts its orphaned
/// descendants. Forked children do not inherit this.
void adopt_orphans();

/// After adopt_orphans(): kills the adopted orphans and their descendants, see kill_descendants().
/// `own`: the children that this process started itself; they are spared. Once orphans that cannot
/// be killed have taken two seconds, in this call or in former ones, it waits 50 milliseconds only.
void kill_orphans(const std::set<pid_t>& own);

}  // namespace lloyd::apps
