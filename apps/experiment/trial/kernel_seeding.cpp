#include "experiment/trial/kernel_seeding.hpp"

#include <chrono>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>

namespace lloyd::experiment {

Starts starts_at(const SeededRows& seeded, const Dataset& dataset, const FitOptions& options) {
  const auto k = static_cast<std::size_t>(options.clusters);
  if (seeded.rows.size() != k * static_cast<std::size_t>(options.restarts)) {
    throw Error(fmt::format("it chose {} samples, not {} for each of {} restarts",
                            seeded.rows.size(), k, options.restarts));
  }
  Starts starts;
  starts.ms = seeded.ms;
  for (std::size_t i = 0; i < seeded.rows.size(); ++i) {
    const std::int64_t row = seeded.rows[i];
    if (row < 0 || row >= dataset.samples()) {
      throw Error(fmt::format("it chose sample {} of {}", row, dataset.samples()));
    }
    if (i % k == 0) starts.centroids.emplace_back();
    const std::vector<double> sample = dataset.sample(row);
    starts.centroids.back().insert(starts.centroids.back().end(), sample.begin(), sample.end());
  }
  return starts;
}

std::optional<SeededRows> seed_by_kernels(const std::shared_ptr<const LoadedBackend>& backend,
                                          const Dataset& dataset, const FitOptions& options,
                                          const StopFunction& stop,
                                          const ProgressFunction& progress,
                                          std::int64_t first_restart) {
  BackendSession session(backend, dataset, backend->default_parameters());
  return seed_by_kernels(session, dataset, options, stop, progress, first_restart);
}

std::optional<SeededRows> seed_by_kernels(BackendSession& session, const Dataset& dataset,
                                          const FitOptions& options, const StopFunction& stop,
                                          const ProgressFunction& progress,
                                          std::int64_t first_restart) {
  using Clock = std::chrono::steady_clock;
  if (session.session().query(kSeedingKernels) == nullptr) return std::nullopt;
  SeededRows seeded;
  const Clock::time_point begin = Clock::now();
  for (std::int64_t restart = 0; restart < options.restarts; ++restart) {
    const std::vector<std::int64_t> rows =
        seed_indices(dataset, options.clusters, options.seeding, first_restart + restart,
                     {.stop = stop, .session = &session, .progress = progress});
    seeded.rows.insert(seeded.rows.end(), rows.begin(), rows.end());
  }
  seeded.ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return seeded;
}

}  // namespace lloyd::experiment
