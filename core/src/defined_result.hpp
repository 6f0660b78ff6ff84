// Whether labels, centroids and inertia that a backend returned are what the definitions say.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <lloyd/fit.hpp>

namespace lloyd {

/// Calls its argument for blocks of rows that cover a data set in ascending order.
using BlockVisitor =
    std::function<void(const std::function<void(std::int64_t first, const Matrix& block)>&)>;

/// What a backend returned.
struct ReturnedLabels {
  std::span<const double> centroids;  ///< k x d
  std::span<const std::int32_t> labels;
  double inertia = 0;
};

/// Throws BackendError, led by the backend's name, where a label is not in [0, k), where the
/// inertia is not that of the labels and centroids, or where a backend that states exact labels
/// returned one that is not the nearest centroid; see ResultCheck for how many labels are compared.
ResultCheck check_by_definition(const LoadedBackend& backend, const Dataset& dataset,
                                const ReturnedLabels& returned, const BlockVisitor& for_each_block);

/// The rows whose labels are compared: all, or `wanted` of them (>= 1) drawn without repetition,
/// one from each of as many equal parts, the same for every call. Ascending.
std::vector<std::int64_t> rows_to_compare(std::int64_t samples, std::int64_t wanted);

}  // namespace lloyd
