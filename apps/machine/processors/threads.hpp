// State and placement of the other threads of this process.
#pragma once

#include <chrono>
#include <set>

namespace lloyd::machine {

/// Longer than OpenMP threads spin after a parallel region by default.
inline constexpr std::chrono::milliseconds kMaxSpinTime{250};

/// Waits until no other thread of this process, and no thread of its descendants, is running.
/// Returns false if one still is after `limit`; true at once if /proc is not readable.
bool wait_for_idle_threads(std::chrono::milliseconds limit);

/// The processors that the other threads of this process run on or ran on last.
std::set<int> processors_of_other_threads();

/// Moves the calling thread to `processor` if it is the only thread of this process. Otherwise, if
/// it is on a processor of another thread, moves it to a free one of the fastest kind, preferably
/// on a free core: two threads would share the processor until the kernel balances them, which
/// takes milliseconds, on some virtual machines a whole fit. The thread is not bound, see
/// move_to(). Returns the processor that it is on.
int begin_on(int processor);

}  // namespace lloyd::machine
