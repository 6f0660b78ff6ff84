// FitState: the state of a fit between two iterations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>

namespace lloyd {

/// The state of one restart. A fit from these centroids is the rest of the restart.
struct FitState {
  std::int64_t restart = 0;         ///< index, from 0
  std::int64_t iterations = 0;      ///< finished iterations
  std::int64_t relocations = 0;     ///< in these iterations
  std::vector<double> centroids{};  ///< after these iterations, k x d; empty: not seeded yet
  std::string seeding_backend{};    ///< as Fit::seeding_backend
};

/// What a checkpoint holds.
struct CheckpointContent {
  FitState state;
  /// The best of the restarts before `state.restart`, without labels, counts, inertia and times.
  std::optional<Fit> best;
};

}  // namespace lloyd
