// Checks labels and centroids against the definitions, independently of any backend.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Inertia: the sum of the squared distances of the samples to the centroids of their labels.
/// `centroids` is k x d, row-major, with k = size / d; `labels` has n entries. The float64
/// distances are summed exactly and rounded once, by usable_processors() threads. Labels must be in
/// [0, k), and the data set in memory.
double inertia(const Dataset& dataset, std::span<const double> centroids,
               std::span<const std::int32_t> labels);

/// Comparison of labels with the definition: the nearest centroid by float64 distance, ties to the
/// lowest index.
struct LabelCheck {
  std::int64_t wrong = 0;         ///< number of compared labels that differ from the definition
  std::int64_t first_wrong = -1;  ///< row of the first wrong label; -1: none
  /// Largest ratio, over the compared samples, of the squared distance to the labelled centroid to
  /// that to the nearest centroid. 1 if no label is wrong or all wrong ones are ties; infinity if
  /// the nearest centroid is at distance 0.
  double worst_ratio = 1;
  std::int64_t samples = 0;  ///< number of samples whose labels were compared
};

/// Limits and resources of a label check. If a limit excludes some labels, a random sample is
/// compared: one row from each of equal parts of the data set. The rows depend only on n and on the
/// size of the sample.
struct LabelCheckOptions {
  std::int64_t samples = 0;  ///< maximum number of labels to compare; 0: all
  /// Time limit of the check, seconds of wall time. A timed comparison of a few thousand labels
  /// gives the number that fits; at least kMinSampledLabels are compared.
  double seconds = std::numeric_limits<double>::infinity();
  int threads = 0;  ///< 0: usable_processors(); the result does not depend on it
  /// Polled for cancellation, on the calling thread.
  StopFunction stop{};
  ProgressFunction progress{};  ///< receives the number of labels compared
};
/// LabelCheckOptions::seconds does not reduce the sample below this size.
inline constexpr std::int64_t kMinSampledLabels = 1024;

/// Compares labels (n) with the nearest of k centroids (k x d, row-major). Nearest centroids are
/// found in float32 where a bound on the rounding errors proves that they are those of the
/// definition, and by the definition otherwise. The data set must be in memory. Throws InputError
/// for sizes that do not match, and Cancelled.
LabelCheck check_labels(const Dataset& dataset, std::span<const double> centroids,
                        std::span<const std::int32_t> labels,
                        const LabelCheckOptions& options = {});

/// Adjusted Rand index of two labellings of the same samples: 1 for equal partitions, about 0 for
/// independent ones. Samples with a negative number in either are left out. Throws InputError if
/// the sizes differ. Source: L. Hubert and P. Arabie, "Comparing partitions", Journal of
/// Classification 2, 1985.
double adjusted_rand_index(std::span<const std::int32_t> a, std::span<const std::int32_t> b);

/// Encodes class names as integers: distinct names become 0, 1, ... in order of first appearance,
/// and an empty name, of a sample without a class, becomes -1.
std::vector<std::int32_t> encode_classes(std::span<const std::string> classes);
/// True if there are at least two different classes in a result of encode_classes(). With fewer, an
/// adjusted Rand index says nothing.
bool has_several_classes(std::span<const std::int32_t> classes);

}  // namespace lloyd
