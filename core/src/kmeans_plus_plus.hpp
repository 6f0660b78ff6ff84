// Greedy k-means++: the indices of the samples that become the initial centroids.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/random.hpp>

#include "seeding_samples.hpp"
#include "workers.hpp"

namespace lloyd {

/// Candidates tried for each centroid after the first: 2 + floor(ln k).
std::int64_t kmeans_plus_plus_candidates(std::int64_t clusters);

/// Chooses `clusters` samples, 1 <= clusters <= n. All that decides is a definition (the squared
/// distance) or an integer, so the choice depends on nothing but data and stream. Memory: 8 bytes a
/// sample. Throws Cancelled. Source: D. Arthur and S. Vassilvitskii, "k-means++: the advantages of
/// careful seeding", 2007, section 5 (greedy).
std::vector<std::int64_t> kmeans_plus_plus(SeedingSamples& samples, std::int64_t clusters,
                                           const RandomStream& stream, const Workers& workers);

/// Where the data has too few distinct samples: adds the lowest indices that are not among `chosen`
/// until there are `clusters` (at most n).
void add_lowest_unchosen(std::vector<std::int64_t>& chosen, std::int64_t clusters);

}  // namespace lloyd
