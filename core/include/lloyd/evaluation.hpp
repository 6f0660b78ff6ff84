// Evaluation: judges labels and centroids by the definitions, apart from any backend.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Sum of squared distances of samples to the centroids of their labels (k x d, row-major): exact
/// sum of float64 distances, rounded once. Labels must be in [0, k), and the data set in memory.
double inertia(const Dataset& dataset, std::span<const double> centroids,
               std::span<const std::int32_t> labels);

/// How labels compare with the definition (nearest centroid in float64, ties to the lowest index).
struct LabelCheck {
  std::int64_t wrong = 0;         ///< labels that differ from the definition's
  std::int64_t first_wrong = -1;  ///< row of the first of them
  /// Largest ratio of the squared distance to the labelled centroid over that to the nearest; 1
  /// when none is wrong or wrong ones are ties; infinity where the nearest is at distance 0.
  double worst_ratio = 1;
};
/// Judges labels by k x d centroids, row-major. The data set must be in memory.
LabelCheck check_labels(const Dataset& dataset, std::span<const double> centroids,
                        std::span<const std::int32_t> labels);

/// Adjusted Rand index of two labellings of the same samples: 1 for equal partitions, about 0 for
/// independent ones. Source: L. Hubert and P. Arabie, "Comparing partitions", 1985.
double adjusted_rand_index(std::span<const std::int32_t> a, std::span<const std::int32_t> b);

/// Numbers the distinct texts 0, 1, ... in order of first appearance.
std::vector<std::int32_t> number_classes(std::span<const std::string> classes);

}  // namespace lloyd
