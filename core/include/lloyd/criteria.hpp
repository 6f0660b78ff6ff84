// Criteria for choosing the number of clusters k.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Limits the work of the simplified silhouette: all samples are used if n * k * d is at most this;
/// otherwise a random subset within this limit, the same in every call.
inline constexpr std::int64_t kMaxSilhouetteValues = std::int64_t{1} << 30;
/// Minimum number of samples of that subset.
inline constexpr std::int64_t kMinSilhouetteSamples = 1000;

/// Criteria of one partition of n samples into k clusters. k counts the clusters that have samples,
/// m_c is the mean of the n_c samples of cluster c, m the mean of all samples, and all distances
/// are Euclidean. NaN where a criterion is not defined.
struct ClusterCriteria {
  std::int64_t clusters = 0;  ///< k
  /// Sum of the squared distances of the samples to the means of their clusters, in the squared
  /// unit of the data.
  double within_sum_of_squares = 0;
  /// Mean of s(i) = (b - a) / max(a, b), in [-1, 1]; higher is better. a is the distance of sample
  /// i to m_c of its own cluster, b that to the nearest other mean; s(i) is 0 for the only sample
  /// of a cluster and for a = b = 0. Not defined for k = 1. Source: E. R. Hruschka, R. J. G. B.
  /// Campello and L. N. de Castro, "Evolving clusters in gene-expression data", Information
  /// Sciences 176, 2006: the silhouette of P. J. Rousseeuw (1987) with means instead of all pairs.
  double silhouette = std::numeric_limits<double>::quiet_NaN();
  std::int64_t silhouette_samples = 0;  ///< number of samples that the silhouette averages over
  /// (B / (k - 1)) / (W / (n - k)) with B = sum of n_c |m_c - m|^2 and W the within sum of squares;
  /// higher is better. Not defined for k = 1, k = n and W = 0. Source: T. Calinski and J. Harabasz,
  /// "A dendrite method for cluster analysis", Communications in Statistics 3, 1974.
  double calinski_harabasz = std::numeric_limits<double>::quiet_NaN();
  /// Mean over c of the largest (S_c + S_e) / |m_c - m_e| over e != c, where S_c is the mean
  /// distance of the samples of c to m_c; lower is better, infinite if two means coincide. Not
  /// defined for k = 1. Source: D. L. Davies and D. W. Bouldin, "A cluster separation measure",
  /// IEEE Transactions on Pattern Analysis and Machine Intelligence 1, 1979.
  double davies_bouldin = std::numeric_limits<double>::quiet_NaN();
};

/// Computes the criteria of a partition in two passes over the samples on this thread, in float64
/// and in row order. `labels` has n entries in [0, clusters). A data set that is not in memory is
/// read in blocks of `block_rows` rows, two of which are held in memory; 0: blocks of about 4 MiB.
/// For a data set in memory, `block_rows` has no effect. Throws InputError unless there are n
/// labels in that range, and for block_rows < 0 and `clusters` outside 1 to 2^31 - 1. Also throws
/// what the data set's source throws, and Cancelled once `stop` returns true.
ClusterCriteria cluster_criteria(const Dataset& dataset, std::span<const std::int32_t> labels,
                                 std::int64_t clusters, std::int64_t block_rows = 0,
                                 const StopFunction& stop = {});

/// The simplified silhouette alone, see ClusterCriteria.
struct SimplifiedSilhouette {
  double value = std::numeric_limits<double>::quiet_NaN();  ///< ClusterCriteria::silhouette
  std::int64_t samples = 0;                                 ///< ClusterCriteria::silhouette_samples
};

/// As cluster_criteria(), without the Davies-Bouldin criterion, which takes k^2 d operations.
SimplifiedSilhouette simplified_silhouette(const Dataset& dataset,
                                           std::span<const std::int32_t> labels,
                                           std::int64_t clusters, std::int64_t block_rows = 0,
                                           const StopFunction& stop = {});

}  // namespace lloyd
