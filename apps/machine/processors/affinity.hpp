// On which processors threads run.
#pragma once

#include <vector>

namespace lloyd::machine {

/// Logical processors that the affinity mask of the calling thread allows, ascending; never empty.
std::vector<int> allowed_processors();

/// allowed_processors() at the first call, which is main()'s. Later the mask can be smaller: where
/// OMP_PROC_BIND is set, a plugin's OpenMP binds the thread that loads it.
const std::vector<int>& processors_at_start();

/// The calling thread, and those that it starts later, run on these processors alone. At least one.
/// Returns false, with errno set, where the system refuses.
bool run_on(const std::vector<int>& processors);

/// The processor that the calling thread is on; -1 where the system does not say.
int current_processor();

/// Moves the calling thread to a processor and lets it go where it could go before: with nothing
/// else to do there it stays. Moves nothing where its affinity mask forbids that processor or the
/// system refuses. Returns the processor that it was on when it was let go.
int move_to(int processor);

}  // namespace lloyd::machine
