// Checks the result of a fit that other processes made.
#pragma once

#include <cstdint>
#include <span>

#include <lloyd/fit.hpp>

namespace lloyd {

/// Checks labels (n), centroids (k x d) and inertia that `backend` returned for all rows of
/// `dataset`, which is in memory, as BackendSession::check() does. Throws like it.
ResultCheck check_returned_fit(const LoadedBackend& backend, const Dataset& dataset,
                               std::span<const double> centroids,
                               std::span<const std::int32_t> labels, double inertia,
                               const ProgressFunction& progress = {});

}  // namespace lloyd
