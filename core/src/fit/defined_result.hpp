// Checks labels, centroids and inertia of a backend against the definitions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>

namespace lloyd {

/// Calls its argument for consecutive blocks of rows that cover a data set in ascending order;
/// `first` is the row of the data set with which `block` begins.
using BlockVisitor =
    std::function<void(const std::function<void(std::int64_t first, const Matrix& block)>&)>;

/// Where values come from; a wrong value is the error of its origin.
enum class Origin {
  backend,  ///< the backend returned the values
  caller,   ///< the caller passed the arguments `centroids`, `labels` and `inertia`
};

/// Labels and inertia, with the centroids they belong to.
struct ReturnedLabels {
  std::span<const double> centroids;  ///< k x d
  std::span<const std::int32_t> labels;
  double inertia = 0;
  Origin origin = Origin::backend;  ///< the same on all ranks
};

/// Collective if the data set is spread over ranks; the result is then that of all rows. Throws
/// BackendError, with the backend's name in front, or InputError, which names the argument of the
/// caller, if a label is not in [0, k), if the inertia is not that of the labels and centroids, or
/// if the backend declares exact labels and a label is not that of the nearest centroid.
/// ResultCheck tells how many labels are compared. With several ranks, throws StatusError on all of
/// them.
ResultCheck check_by_definition(const LoadedBackend& backend, const Dataset& dataset,
                                const ReturnedLabels& returned, const BlockVisitor& for_each_block);

/// The check of a data set in device memory: of its samples, at most kMaxFetchedSamples within the
/// limit of kMaxComparedValues are copied to the host. Throws as above, but of the inertia only
/// that it is not less than that of these samples; ResultCheck::inertia stays NaN.
ResultCheck check_fetched_rows(const LoadedBackend& backend, const Dataset& dataset,
                               const ReturnedLabels& returned);

/// Maximum number of samples that a check copies from device memory.
inline constexpr std::int64_t kMaxFetchedSamples = std::int64_t{1} << 14;

}  // namespace lloyd
