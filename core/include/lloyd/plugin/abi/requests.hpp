// Requests of the host and results of a backend: fits, labels, partial passes. All arrays are in
// host memory and belong to the caller; a null output pointer means that the output is not
// requested.
#pragma once

#include <cstdint>
#include <limits>

#include <lloyd/plugin/abi/dataset_view.hpp>
#include <lloyd/plugin/abi/exact_sum.hpp>
#include <lloyd/plugin/abi/types.hpp>

namespace lloyd {

/// Request for one fit; DatasetView defines n and d.
struct FitSpec {
  std::uint64_t struct_size = sizeof(FitSpec);  ///< sizeof on the allocating side
  std::uint64_t required_capabilities = 0;      ///< kCapability... bits
  std::int64_t clusters = 0;                    ///< k, 1 <= k <= n
  const double* initial_centroids = nullptr;    ///< k x d, row-major, finite
  std::int64_t max_iterations = 0;              ///< >= 1
  /// Stop rule `tolerance`: the fit stops if the sum of the squared centroid shifts of an iteration
  /// is at most this value (absolute, squared unit of the data): the core multiplies the user's
  /// relative tolerance by the mean variance of the features. 0 disables the rule.
  double tolerance = 0;
  StopRule stop_rule = StopRule::converge;  ///< whether the fit may end before max_iterations
  EmptyClusters empty_clusters = EmptyClusters::relocate;  ///< policy for empty clusters
  std::uint32_t observe = 0;  ///< kObserve... bits; 0: no iteration records, only stop_requested()
  std::int32_t profile = 0;   ///< 1: measure the phases, which may slow the fit down
};
static_assert(sizeof(FitSpec) == 64);

/// Wall time of the phases of a fit in milliseconds; negative if not measured. Phases that a kernel
/// fuses are reported together, under the first of them in the order below.
struct PhaseTimes {
  double transfer_ms = -1;                ///< copies between host and device
  double assignment_ms = -1;              ///< computing labels
  double update_ms = -1;                  ///< cluster sums and means
  double convergence_ms = -1;             ///< stop rules; inertia if the observer requests it
  double reserved[4] = {-1, -1, -1, -1};  ///< reserved, negative
};
static_assert(sizeof(PhaseTimes) == 64);

/// Result of one fit. The caller owns the arrays, which are in host memory; null means that the
/// array is not requested. Inertia is in the squared unit of the data; times are wall time in
/// milliseconds.
struct FitResult {
  std::uint64_t struct_size = sizeof(FitResult);              ///< sizeof on the allocating side
  double* centroids = nullptr;                                ///< k x d
  std::int32_t* labels = nullptr;                             ///< n; of the returned centroids
  std::int64_t* counts = nullptr;                             ///< k; samples per returned centroid
  double inertia = std::numeric_limits<double>::quiet_NaN();  ///< of the returned centroids
  std::int64_t iterations = 0;   ///< finished iterations, without the closing assignment
  std::int64_t relocations = 0;  ///< relocations of empty clusters
  std::int64_t distances = 0;  ///< sample-centroid distances evaluated, closing assignment included
  /// Exact fallbacks: labels that the screening could not prove and the defined float64 distances
  /// decided. Negative if the backend does not screen.
  std::int64_t exact_fallbacks = -1;
  StopReason stop_reason = StopReason::none;  ///< why the fit ended
  SumForm sum_form = SumForm::integer64;      ///< form of the cluster sums
  std::uint32_t valid = 0;                    ///< kValid... bits: the valid outputs
  std::int32_t reserved = 0;                  ///< 0
  double loop_ms = 0;                         ///< all iterations
  double closing_ms = 0;                      ///< the closing assignment, with counts and inertia
  PhaseTimes phases;                          ///< measured if FitSpec::profile is 1
};
static_assert(sizeof(FitResult) == 168);

/// Record of one finished iteration. Pointers are valid during the call only, and null unless
/// FitSpec::observe has their bit.
struct IterationRecord {
  std::uint64_t struct_size = sizeof(IterationRecord);  ///< sizeof on the allocating side
  std::int64_t iteration = 0;                           ///< 1, 2, ... of this fit
  std::int64_t changed = 0;  ///< labels that differ from the previous iteration's; n in the first
  std::int64_t relocations = 0;  ///< empty clusters that this update relocated
  double shift = 0;  ///< squared: the sum of squared centroid shifts; unit: FitSpec::tolerance
  double inertia = std::numeric_limits<double>::quiet_NaN();  ///< of `labels`, before the update
  double elapsed_ms = 0;                 ///< wall time since the loop began, milliseconds
  const std::int32_t* labels = nullptr;  ///< n; this iteration's assignment
  const double* centroids = nullptr;     ///< k x d; after this iteration's update
};
static_assert(sizeof(IterationRecord) == 72);

/// Request to assign all samples of a session to given centroids.
struct LabelRequest {
  std::uint64_t struct_size = sizeof(LabelRequest);  ///< sizeof on the allocating side
  std::uint64_t required_capabilities = 0;           ///< kCapability... bits
  const double* centroids = nullptr;                 ///< k x d, row-major, finite
  std::int64_t clusters = 0;                         ///< k >= 1
};
static_assert(sizeof(LabelRequest) == 32);

/// Result of a LabelRequest; null means that the array is not requested. Units are those of
/// FitResult.
struct LabelResult {
  std::uint64_t struct_size = sizeof(LabelResult);  ///< sizeof on the allocating side
  std::int32_t* labels = nullptr;                   ///< n
  std::int64_t* counts = nullptr;                   ///< k
  double* squared_distances = nullptr;  ///< n; to the centroid of the label, see distance.hpp
  double inertia = std::numeric_limits<double>::quiet_NaN();  ///< of the labels
  double label_ms = 0;                                        ///< wall time of the call
  std::uint32_t valid = 0;                                    ///< kValid... bits
  std::int32_t reserved = 0;                                  ///< 0
};
static_assert(sizeof(LabelResult) == 56);

/// The sum of one feature over one cluster, in the form of the data set's SumPlan: a 128-bit
/// two's-complement integer in units of 2^quantum_exponent, or the bit patterns of a float64 sum
/// and its correction.
struct SumWords {
  std::uint64_t low = 0;   ///< bits 0 to 63, or the float64 sum
  std::uint64_t high = 0;  ///< bits 64 to 127, or the float64 correction
};

/// A sample that is far from its own centroid: a candidate for relocation.
struct FarSample {
  std::int64_t row = 0;         ///< of the session's data set
  double squared_distance = 0;  ///< to its centroid, see distance.hpp; > 0
  std::int32_t label = 0;       ///< its cluster
  std::int32_t reserved = 0;    ///< 0
};

/// Request for one assignment over a range of rows, with cluster sums and counts but no means.
struct PartialRequest {
  std::uint64_t struct_size = sizeof(PartialRequest);  ///< sizeof on the allocating side
  std::uint64_t required_capabilities = 0;             ///< kCapability... bits
  const double* centroids = nullptr;                   ///< k x d, row-major, finite
  std::int64_t clusters = 0;                           ///< k >= 1
  RowRange rows;                                       ///< of the session's data set
  std::int64_t farthest_wanted = 0;                    ///< m, number of far samples to report
};
static_assert(sizeof(PartialRequest) == 56);

/// Result of a PartialRequest. `labels` are input and output. `sums`, `counts` and `inertia` are
/// accumulated: the caller clears them once and requests all rows in ascending order. The bits of
/// the result then do not depend on how the rows are split. (Integer sums do not depend on the
/// order at all: the sums of disjoint parts may be added as integers.) Null means that an array is
/// not requested; without `labels`, every row counts as changed.
struct PartialResult {
  std::uint64_t struct_size = sizeof(PartialResult);  ///< sizeof on the allocating side
  std::int32_t* labels = nullptr;   ///< rows.size(); in: former labels (-1: none), out: new labels
  SumWords* sums = nullptr;         ///< k x d
  std::int64_t* counts = nullptr;   ///< k
  ExactSum* inertia = nullptr;      ///< the squared distances to the assigned centroids are added
  FarSample* farthest = nullptr;    ///< farthest_wanted entries; by descending distance, then row
  std::int64_t farthest_count = 0;  ///< entries of `farthest` that were filled
  std::int64_t changed = 0;         ///< labels that differ from the former ones
  SumForm sum_form = SumForm::integer64;  ///< form of `sums`, the same for all parts of a data set
  std::int32_t reserved = 0;              ///< 0
};
static_assert(sizeof(PartialResult) == 72);

}  // namespace lloyd
