// Checks the results of a backend before they are used, compared or printed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>

namespace lloyd {

/// Checks a finished or cancelled fit: valid bits, labels, counts, centroids (k x d, like the
/// initial ones; `statistics` are those of the d features), inertia, iterations, stop reason, form
/// of sums, numbers of distances, relocations and exact fallbacks, times. Throws BackendError, with
/// the backend's name in front, if a value is impossible. Clears the outputs that are not valid.
void check_result(const std::string& backend, const FitSpec& spec,
                  const std::vector<double>& initial_centroids,
                  std::span<const FeatureStatistics> statistics, Fit& fit);

/// Throws BackendError if labels are out of range or counts are not those of the labels.
void check_counts(const std::string& backend, const Fit& fit);

/// Checks the result of label(): labels, counts, inertia and, unless null, one squared distance per
/// label. `call_ms` is the wall time of the call.
void check_labelling(const std::string& backend, std::int64_t clusters,
                     const std::vector<std::int32_t>& labels,
                     const std::vector<std::int64_t>& counts,
                     const std::vector<double>* squared_distances, const LabelResult& result,
                     double call_ms);

/// The fault of the record of iteration `iteration`, as one sentence without the backend's name;
/// empty if there is none. `call_ms` is the wall time since fit() was called.
std::string record_fault(const FitSpec& spec, const ProblemShape& shape,
                         const IterationRecord& record, std::int64_t iteration, double call_ms);

}  // namespace lloyd
