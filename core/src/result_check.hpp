// What a backend returned is checked before anybody indexes, compares or prints with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>

namespace lloyd {

/// Throws BackendError, led by the backend's name, when a fit that the backend calls finished or
/// cancelled holds what it cannot hold: valid bits, labels, counts, centroids, inertia, iterations,
/// stop reason, times. Clears what is not valid.
void check_result(const std::string& backend, const FitSpec& spec, Fit& fit);

/// The same for labels, counts and inertia alone.
void check_labelling(const std::string& backend, std::int64_t clusters,
                     const std::vector<std::int32_t>& labels,
                     const std::vector<std::int64_t>& counts, const LabelResult& result);

}  // namespace lloyd
