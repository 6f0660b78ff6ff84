// Processor affinity of threads.
#pragma once

#include <vector>

namespace lloyd::machine {

/// Logical processors in the calling thread's affinity mask, ascending; never empty.
std::vector<int> allowed_processors();

/// allowed_processors() at the first call, which main() makes. The mask may shrink later: with
/// OMP_PROC_BIND, a plugin's OpenMP runtime binds the thread that loads it.
const std::vector<int>& processors_at_start();

/// Restricts the calling thread, and threads that it starts later, to the processors (at least
/// one). Returns false, with errno set, on failure.
bool run_on(const std::vector<int>& processors);

/// The processor that the calling thread runs on; -1 if unknown.
int current_processor();

/// Moves the calling thread to a processor, then restores its affinity mask; the scheduler usually
/// leaves it there if that processor is idle. Does nothing if the mask excludes the processor or
/// the system refuses. Returns the processor that the thread was on before the mask was restored.
int move_to(int processor);

}  // namespace lloyd::machine
