// Greedy k-means++: the indices of the samples that become the initial centroids.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/random.hpp>
#include <lloyd/seeding.hpp>

namespace lloyd {

/// Candidates tried for each centre after the first: 2 + floor(ln k).
std::int64_t kmeans_plus_plus_candidates(std::int64_t clusters);

/// Chooses `clusters` samples, 1 <= clusters <= n. All that decides is a definition (the squared
/// distance) or an integer, so the choice depends on nothing but data and stream. `stop` is asked
/// before each centre. Source: D. Arthur and S. Vassilvitskii, "k-means++: the advantages of
/// careful seeding", 2007, section 5 (greedy).
std::vector<std::int64_t> kmeans_plus_plus(const Matrix& matrix, std::int64_t clusters,
                                           const RandomStream& stream, const StopFunction& stop);

}  // namespace lloyd
