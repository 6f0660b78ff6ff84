#include "experiment/trial/kernel_seeding.hpp"

#include <chrono>

#include <lloyd/plugin/abi/seeding_kernels.hpp>

namespace lloyd::experiment {

std::optional<SeededRows> seed_by_kernels(const std::shared_ptr<const LoadedBackend>& backend,
                                          const Dataset& dataset, const FitOptions& options,
                                          const StopFunction& stop,
                                          const ProgressFunction& progress) {
  using Clock = std::chrono::steady_clock;
  BackendSession session(backend, dataset, backend->default_parameters());
  if (session.session().query(kSeedingKernels) == nullptr) return std::nullopt;
  SeededRows seeded;
  const Clock::time_point begin = Clock::now();
  for (std::int64_t restart = 0; restart < options.restarts; ++restart) {
    const std::vector<std::int64_t> rows =
        seed_indices(dataset, options.clusters, options.seeding, restart,
                     {.stop = stop, .session = &session, .progress = progress});
    seeded.rows.insert(seeded.rows.end(), rows.begin(), rows.end());
  }
  seeded.ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return seeded;
}

}  // namespace lloyd::experiment
