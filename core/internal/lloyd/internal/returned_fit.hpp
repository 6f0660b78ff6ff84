// Checks results of fits as those of a backend: errors are never the caller's.
#pragma once

#include <cstdint>
#include <span>

#include <lloyd/fit.hpp>

namespace lloyd {

/// Checks labels (n), centroids (k x d) and inertia that `backend` returned to other processes for
/// all rows of `dataset`, which is in memory, as BackendSession::check() does. Throws like it.
ResultCheck check_returned_fit(const LoadedBackend& backend, const Dataset& dataset,
                               std::span<const double> centroids,
                               std::span<const std::int32_t> labels, double inertia,
                               const ProgressFunction& progress = {});

/// Checks the result of any fit of `session`, also of a fit before its last one, as
/// BackendSession::check() does for the last one. Throws like it.
ResultCheck check_returned_fit(BackendSession& session, const Fit& fit,
                               const ProgressFunction& progress = {});

}  // namespace lloyd
