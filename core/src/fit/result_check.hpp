// Checks the results of a backend before they are used, compared or printed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>
#include <lloyd/internal/ranks.hpp>

namespace lloyd {

/// Number of labels of each of k clusters; labels that are not in [0, k) do not count.
std::vector<std::int64_t> label_histogram(const std::vector<std::int32_t>& labels,
                                          std::int64_t clusters);
/// The same, summed over the labels of all ranks; collective.
std::vector<std::int64_t> label_histogram(const Ranks& ranks,
                                          const std::vector<std::int32_t>& labels,
                                          std::int64_t clusters);

/// In the functions below, `histogram` is label_histogram() of the labels, summed over all ranks of
/// a data set that is spread over ranks.

/// Checks a finished or cancelled fit: valid bits, labels, counts, centroids (k x d, like the
/// initial ones; `statistics` are those of the d features), inertia, iterations, stop reason, form
/// of sums, numbers of distances, relocations and exact fallbacks, times. Throws BackendError, with
/// the backend's name in front, if a value is impossible. Clears the outputs that are not valid.
void check_result(const std::string& backend, const FitSpec& spec,
                  const std::vector<double>& initial_centroids,
                  std::span<const FeatureStatistics> statistics,
                  const std::vector<std::int64_t>& histogram, Fit& fit);

/// Throws BackendError if labels are out of range or counts are not those of the labels.
void check_counts(const std::string& backend, const std::vector<std::int64_t>& histogram,
                  const Fit& fit);

/// Checks the result of label(): labels, counts, inertia and, unless null, one squared distance per
/// label. `call_ms` is the wall time of the call.
void check_labelling(const std::string& backend, std::int64_t clusters,
                     const std::vector<std::int32_t>& labels,
                     const std::vector<std::int64_t>& counts,
                     const std::vector<std::int64_t>& histogram,
                     const std::vector<double>* squared_distances, const LabelResult& result,
                     double call_ms);

/// What record_fault() knows of a fit.
struct ObservedFit {
  const FitSpec& spec;
  ProblemShape shape;              ///< of this rank's rows
  std::int64_t total_samples = 0;  ///< of all ranks
  double shift_of_rounding = 0;    ///< shift_of_rounding()
};

/// Upper limit of the squared shift of k centroids whose clusters do not change, in the squared
/// unit of the data. It allows for sums in the data type whose order varies from pass to pass:
/// their rounding errors are taken to stay within the lower half of the digits.
double shift_of_rounding(std::span<const FeatureStatistics> statistics, DType dtype,
                         std::int64_t clusters);

/// The fault of the record of iteration `iteration`, as one sentence without the backend's name;
/// empty if there is none. `former_relocations` are those of the iteration before; `call_ms` is the
/// wall time since fit() was called.
std::string record_fault(const ObservedFit& fit, const IterationRecord& record,
                         std::int64_t iteration, std::int64_t former_relocations, double call_ms);

}  // namespace lloyd
