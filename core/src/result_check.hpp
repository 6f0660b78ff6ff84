// What a backend returned is checked before anybody indexes, compares or prints with it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>

namespace lloyd {

/// Throws BackendError, led by the backend's name, when a fit that the backend calls finished or
/// cancelled holds what it cannot hold: valid bits, labels, counts, centroids (k x d, as the
/// initial ones are; `statistics` are those of the d features), inertia, iterations, stop reason,
/// form of sums, numbers of distances, relocations and exact fallbacks, times. Clears what is not
/// valid.
void check_result(const std::string& backend, const FitSpec& spec,
                  const std::vector<double>& initial_centroids,
                  std::span<const FeatureStatistics> statistics, Fit& fit);

/// Throws the same for labels out of range and for counts that are not those of the labels.
void check_counts(const std::string& backend, const Fit& fit);

/// The same for labels, counts and inertia alone, and for squared distances, one for each label,
/// unless there are none. `call_ms` is what the call took.
void check_labelling(const std::string& backend, std::int64_t clusters,
                     const std::vector<std::int32_t>& labels,
                     const std::vector<std::int64_t>& counts,
                     const std::vector<double>* squared_distances, const LabelResult& result,
                     double call_ms);

/// What is wrong with the record of iteration `iteration`, as one sentence without the backend's
/// name; empty where nothing is. `call_ms` is the time since the call of fit().
std::string record_fault(const FitSpec& spec, const ProblemShape& shape,
                         const IterationRecord& record, std::int64_t iteration, double call_ms);

}  // namespace lloyd
