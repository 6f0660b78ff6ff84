// The other threads of this process: where they are, and whether they run.
#pragma once

#include <chrono>
#include <set>

namespace lloyd::machine {

/// More than OpenMP runtimes let threads spin after a parallel region, unless told otherwise.
inline constexpr std::chrono::milliseconds kMaxSpinTime{250};

/// Waits until no other thread of this process runs, nor one of the processes that it has started,
/// nor one of theirs. False where one still does after `limit`; true at once where the system does
/// not say.
bool wait_for_idle_threads(std::chrono::milliseconds limit);

/// The processors that the other threads of this process are on, or ran on last.
std::set<int> processors_of_other_threads();

/// Moves the calling thread to that processor where it is the only one of this process. Where there
/// are others and it is on a processor of theirs, moves it to one that is free, of the fastest kind
/// and if possible of a free core: two that meet share it until the kernel finds out, for
/// milliseconds, on some virtual machines for a whole fit. May leave it then, as with move_to().
/// Returns the processor that it is on.
int begin_on(int processor);

}  // namespace lloyd::machine
