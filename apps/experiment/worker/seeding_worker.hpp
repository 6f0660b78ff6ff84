// seed_in_worker: seeds with the kernels of a backend, in a process of its own.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>

#include "experiment/config/isolation.hpp"
#include "experiment/trial/kernel_seeding.hpp"
#include "experiment/worker/shared_dataset.hpp"

namespace lloyd::experiment {

/// The process in which a seeding runs, and its limits.
struct SeedingProcess {
  const std::vector<std::string>& command;  ///< starts a worker
  const Isolation& isolation;               ///< processors and memory limit
  std::chrono::seconds load_limit;          ///< for the plugin to load
  std::chrono::seconds seeding_limit;       ///< for the seeding
  std::function<bool()> stop;               ///< cancels it
  ProgressFunction progress;                ///< see seed_by_kernels()
};

/// Time limit of a seeding with `work` multiplications (seeding_work()). Lloyd's own code takes
/// less time on any machine.
std::chrono::seconds seeding_limit(double work);

/// Seeds `options.restarts` restarts, beginning with `first_restart`. The process serves no trial,
/// so that it changes no measured time, and ends before the return. None if the backend offers no
/// kernels. Throws Error, in one sentence without the backend's name, if the process fails, and
/// Cancelled if `process.stop` returns true.
std::optional<SeededRows> seed_in_worker(const LoadedBackend& backend, const SharedDataset& dataset,
                                         const FitOptions& options, const SeedingProcess& process,
                                         std::int64_t first_restart = 0);

}  // namespace lloyd::experiment
