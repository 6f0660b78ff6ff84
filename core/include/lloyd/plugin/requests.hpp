// Requests of the host and results of a backend: fits, labels, partial passes. All arrays are in host
// memory and belong to the caller; a null output pointer means that the output is not wanted.
#pragma once

#include <cstdint>
#include <limits>

#include <lloyd/plugin/dataset_view.hpp>
#include <lloyd/plugin/exact_sum.hpp>
#include <lloyd/plugin/types.hpp>

namespace lloyd {

/// What a fit is asked for; see DatasetView for n and d.
struct FitSpec {
  std::uint64_t struct_size = sizeof(FitSpec);  ///< size in its maker's headers
  std::uint64_t required_capabilities = 0;      ///< kCapability... bits
  std::int64_t clusters = 0;                    ///< k, 1 <= k <= n
  const double* initial_centroids = nullptr;    ///< k x d, row-major, finite
  std::int64_t max_iterations = 0;              ///< >= 1
  /// The fit stops when the sum of squared centroid shifts of an iteration is at most this absolute
  /// number (the unit of the data, squared); 0 switches the rule off.
  double tolerance = 0;
  StopRule stop_rule = StopRule::converge;                 ///< whether the fit may end early
  EmptyClusters empty_clusters = EmptyClusters::relocate;  ///< after each assignment
  std::uint32_t observe = 0;  ///< kObserve... bits; 0: the observer is only asked whether to stop
  std::int32_t profile = 0;   ///< 1: measure the phases; the fit may run slower
};
static_assert(sizeof(FitSpec) == 64);

/// Wall time of the phases of a fit in milliseconds; negative where not measured. A phase that is
/// fused with another is reported with the one named first.
struct PhaseTimes {
  double transfer_ms = -1;                ///< copies between host and device
  double assignment_ms = -1;              ///< labels
  double update_ms = -1;                  ///< sums and means
  double convergence_ms = -1;             ///< the test whether to stop
  double reserved[4] = {-1, -1, -1, -1};  ///< negative
};
static_assert(sizeof(PhaseTimes) == 64);

/// What a fit answers. The arrays are the caller's, in host memory; null ones are not wanted.
/// Inertia is in the unit of the data, squared; times are wall time in milliseconds.
struct FitResult {
  std::uint64_t struct_size = sizeof(FitResult);              ///< size in its maker's headers
  double* centroids = nullptr;                                ///< k x d
  std::int32_t* labels = nullptr;                             ///< n; of the returned centroids
  std::int64_t* counts = nullptr;                             ///< k; samples per returned centroid
  double inertia = std::numeric_limits<double>::quiet_NaN();  ///< of the returned centroids
  std::int64_t iterations = 0;   ///< finished, the closing assignment not counted
  std::int64_t relocations = 0;  ///< empty clusters that were moved
  std::int64_t distances = 0;  ///< sample-centroid distances evaluated, closing assignment included
  /// Samples whose label a screening left open and the definition decided; negative: no screening.
  std::int64_t exact_fallbacks = -1;
  StopReason stop_reason = StopReason::none;  ///< why the fit ended
  SumForm sum_form = SumForm::integer64;      ///< how it summed
  std::uint32_t valid = 0;                    ///< kValid... bits
  std::int32_t reserved = 0;                  ///< 0
  double loop_ms = 0;                         ///< all iterations
  double closing_ms = 0;                      ///< the closing assignment with counts and inertia
  PhaseTimes phases;                          ///< measured where FitSpec::profile is 1
};
static_assert(sizeof(FitResult) == 168);

/// One finished iteration. Pointers are valid during the call only, and null where not observed.
struct IterationRecord {
  std::uint64_t struct_size = sizeof(IterationRecord);  ///< size in its maker's headers
  std::int64_t iteration = 0;                           ///< 1, 2, ...
  std::int64_t changed = 0;      ///< labels that differ from the iteration before; n in the first
  std::int64_t relocations = 0;  ///< empty clusters that this update moved
  double shift = 0;  ///< sum of squared centroid shifts of this update, as FitSpec::tolerance
  double inertia = std::numeric_limits<double>::quiet_NaN();  ///< of `labels`, before the update
  double elapsed_ms = 0;                 ///< wall time since the loop began, milliseconds
  const std::int32_t* labels = nullptr;  ///< n; this iteration's assignment
  const double* centroids = nullptr;     ///< k x d; after this iteration's update
};
static_assert(sizeof(IterationRecord) == 72);

/// Labels of all samples are asked for, by given centroids.
struct LabelRequest {
  std::uint64_t struct_size = sizeof(LabelRequest);  ///< size in its maker's headers
  std::uint64_t required_capabilities = 0;           ///< kCapability... bits
  const double* centroids = nullptr;                 ///< k x d, row-major, finite
  std::int64_t clusters = 0;                         ///< k >= 1
};
static_assert(sizeof(LabelRequest) == 32);

/// The labels; null arrays are not wanted. Units are those of FitResult.
struct LabelResult {
  std::uint64_t struct_size = sizeof(LabelResult);  ///< size in its maker's headers
  std::int32_t* labels = nullptr;                   ///< n
  std::int64_t* counts = nullptr;                   ///< k
  double* squared_distances = nullptr;  ///< n; to the sample's own centroid, by the definition
  double inertia = std::numeric_limits<double>::quiet_NaN();  ///< of the labels
  double label_ms = 0;                                        ///< wall time of the call
  std::uint32_t valid = 0;                                    ///< kValid... bits
  std::int32_t reserved = 0;                                  ///< 0
};
static_assert(sizeof(LabelResult) == 56);

/// A sum of one feature over one cluster, in the form that the data set's SumPlan names: a
/// two's-complement 128-bit multiple of 2^quantum_exponent, or a float64 value and its correction
/// (bit patterns, in `low` and `high`).
struct SumWords {
  std::uint64_t low = 0;   ///< bits 0 to 63, or the value
  std::uint64_t high = 0;  ///< bits 64 to 127, or the correction
};

/// A sample far from its own centroid, a candidate for relocation.
struct FarSample {
  std::int64_t row = 0;         ///< within the session's data set
  double squared_distance = 0;  ///< by the definition; > 0
  std::int32_t label = 0;       ///< its cluster
  std::int32_t reserved = 0;    ///< 0
};

/// One assignment of the rows of a range, and the sums of an update without the division.
struct PartialRequest {
  std::uint64_t struct_size = sizeof(PartialRequest);  ///< size in its maker's headers
  std::uint64_t required_capabilities = 0;             ///< kCapability... bits
  const double* centroids = nullptr;                   ///< k x d, row-major, finite
  std::int64_t clusters = 0;                           ///< k >= 1
  RowRange rows;                                       ///< within the session's data set
  std::int64_t farthest_wanted = 0;                    ///< m, how many far samples to report
};
static_assert(sizeof(PartialRequest) == 56);

/// `labels` go in and come out; `sums`, `counts`, `inertia` are added to, so that a caller who
/// clears them once and walks over all rows in ascending order gets the same bits for any split.
/// Null arrays are not wanted; without `labels` every row counts as changed.
/// (The integer forms are also free of order: parts may be summed apart and added as integers.)
struct PartialResult {
  std::uint64_t struct_size = sizeof(PartialResult);  ///< size in its maker's headers
  std::int32_t* labels = nullptr;   ///< rows.size(); in: the former labels (-1: none), out: the new
  SumWords* sums = nullptr;         ///< k x d
  std::int64_t* counts = nullptr;   ///< k
  ExactSum* inertia = nullptr;      ///< squared distances to the own centroid are added
  FarSample* farthest = nullptr;    ///< room for farthest_wanted; by descending distance, then row
  std::int64_t farthest_count = 0;  ///< how many were found
  std::int64_t changed = 0;         ///< labels that differ from those handed in
  SumForm sum_form = SumForm::integer64;  ///< form of `sums`: that of the whole data set
  std::int32_t reserved = 0;              ///< 0
};
static_assert(sizeof(PartialResult) == 72);

}  // namespace lloyd
