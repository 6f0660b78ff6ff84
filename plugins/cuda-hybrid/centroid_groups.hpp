// Centroid layout for staging through shared memory.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace lloyd_cuda_hybrid {

/// Centroids that a thread compares with its sample at a time.
inline constexpr int kGroup = 8;

/// One feature of kGroup centroids. A group of centroids is d of these, and the groups are
/// contiguous, so that any contiguous portion of the array can be processed, whatever k and d are.
template <class Real>
struct alignas(16) GroupFeature {
  Real values[kGroup];  ///< of consecutive centroids
};

/// Number of GroupFeatures for k centroids of d features.
inline std::int64_t group_features(std::int64_t clusters, std::int64_t features) {
  return (clusters + kGroup - 1) / kGroup * features;
}

/// Rounds k x d centroids to Real and arranges them in groups. The last group is padded with
/// infinity, which is never nearest.
template <class Real>
void group_centroids(const double* centroids, std::int64_t clusters, std::int64_t features,
                     std::vector<GroupFeature<Real>>& groups) {
  groups.resize(static_cast<std::size_t>(group_features(clusters, features)));
  GroupFeature<Real>* group = groups.data();
  for (std::int64_t first = 0; first < clusters; first += kGroup, group += features) {
    for (std::int64_t u = 0; u < kGroup; ++u) {
      const double* centroid = centroids + (first + u) * features;
      for (std::int64_t j = 0; j < features; ++j) {
        group[j].values[u] = first + u < clusters ? static_cast<Real>(centroid[j])
                                                  : std::numeric_limits<Real>::infinity();
      }
    }
  }
}

}  // namespace lloyd_cuda_hybrid
