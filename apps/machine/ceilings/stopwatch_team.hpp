// Timing of threads that run in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace lloyd::machine {

/// Calls `work(t, run)` for run = 0, 1, ... on thread t, one thread for each of `processors`, for
/// `budget_seconds` and at least twice. In each run all threads start together; the run's wall time
/// lasts until the last one has finished. Returns the shortest run in seconds. `prepare(t)` runs
/// once before, untimed, on the same thread. Several threads are bound to their processors if the
/// system permits. `work` and `prepare` must not throw. Throws std::system_error if a thread cannot
/// be started.
double least_seconds(const std::vector<int>& processors, double budget_seconds,
                     const std::function<void(std::size_t, std::int64_t)>& work,
                     const std::function<void(std::size_t)>& prepare = {});

}  // namespace lloyd::machine
