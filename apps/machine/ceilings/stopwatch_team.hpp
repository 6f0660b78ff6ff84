// Timing of threads that work side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace lloyd::machine {

/// Calls `work(t, run)` for run = 0, 1, ... on thread t = 0, 1, ..., one for each of `processors`,
/// for `budget_seconds` and at least twice. All start together; the wall time until the last has
/// finished counts, and the least is returned. `prepare(t)` is run once before, untimed, on the
/// same thread. Threads are bound to their processors where that is allowed; neither function may
/// throw. Throws std::system_error when a thread cannot be started.
double least_seconds(const std::vector<int>& processors, double budget_seconds,
                     const std::function<void(std::size_t, std::int64_t)>& work,
                     const std::function<void(std::size_t)>& prepare = {});

}  // namespace lloyd::machine
