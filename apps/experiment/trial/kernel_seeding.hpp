// seed_by_kernels: chooses initial centroids with the seeding kernels of a backend.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <lloyd/fit.hpp>

#include "experiment/plan/initial_centroids.hpp"

namespace lloyd::experiment {

/// The samples that a seeding chose.
struct SeededRows {
  std::vector<std::int64_t> rows;  ///< k for each restart
  double ms = 0;                   ///< wall time, without opening the session
};

/// The samples at the rows that a backend chose, as the initial centroids of `options.restarts`
/// restarts. Throws Error unless there are k valid rows for each restart.
Starts starts_at(const SeededRows& seeded, const Dataset& dataset, const FitOptions& options);

/// Seeds `options.restarts` restarts, beginning with `first_restart`, with the kernels of a session
/// on `dataset`. The method must choose samples. None if the backend offers no kernels for this
/// data set. `progress` receives the number of chosen centroids of the current restart. Throws
/// BackendError and Cancelled.
std::optional<SeededRows> seed_by_kernels(BackendSession& session, const Dataset& dataset,
                                          const FitOptions& options, const StopFunction& stop,
                                          const ProgressFunction& progress = {},
                                          std::int64_t first_restart = 0);
/// The same with a session that it opens with the backend's default parameters.
std::optional<SeededRows> seed_by_kernels(const std::shared_ptr<const LoadedBackend>& backend,
                                          const Dataset& dataset, const FitOptions& options,
                                          const StopFunction& stop,
                                          const ProgressFunction& progress = {},
                                          std::int64_t first_restart = 0);

}  // namespace lloyd::experiment
