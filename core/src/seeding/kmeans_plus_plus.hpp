// Greedy k-means++ seeding.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/random.hpp>

#include "seeding/potential.hpp"

namespace lloyd {

/// Candidates per centroid after the first: 2 + floor(ln k).
std::int64_t kmeans_plus_plus_candidates(std::int64_t clusters);

/// Chooses `clusters` samples, 1 <= clusters <= n. Every decision depends on squared distances as
/// defined in distance.hpp and on integers only, so the choice depends on data and random stream
/// alone. Throws what `potential` throws. Source: D. Arthur and S. Vassilvitskii, "k-means++: the
/// advantages of careful seeding", SODA 2007, section 5 (greedy). `progress` receives the number of
/// samples chosen.
std::vector<std::int64_t> kmeans_plus_plus(Potential& potential, std::int64_t clusters,
                                           const RandomStream& stream,
                                           const ProgressFunction& progress = {});

/// For data with too few distinct samples: adds the lowest rows that are not in `chosen` until
/// there are `clusters` (at most n).
void add_lowest_unchosen(std::vector<std::int64_t>& chosen, std::int64_t clusters);

}  // namespace lloyd
