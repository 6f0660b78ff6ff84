// k-means||: seeding with a few passes over the data instead of one or two per centroid.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/random.hpp>

#include "parallel/range_workers.hpp"
#include "seeding/seeding_samples.hpp"

namespace lloyd {

struct ScalableSeeding {
  std::int64_t per_round = 1;  ///< upper bound of the expected samples per round; >= 1
  std::int64_t rounds = 5;     ///< >= 1
  RandomStream starts;         ///< for the first sample, and for one in a round that collects none
  RandomStream rounds_stream;  ///< one number per sample and round
  RandomStream reduction;      ///< for greedy k-means++ over the collected samples
};

/// Chooses `clusters` samples, 1 <= clusters <= n.
/// 1. The first sample is drawn uniformly.
/// 2. Each round collects every sample independently with probability min(1, per_round x its share
///    of the sum of squared distances to the samples collected so far). Rounds are added until at
///    least `clusters` samples are collected.
/// 3. Greedy k-means++ chooses among the collected samples, each weighted by the number of samples
///    that are nearest to it.
/// Every decision depends on squared distances as defined in distance.hpp and on integers only, so
/// the choice depends on data and random streams alone. Memory: 12 bytes per sample and O(d) per
/// collected sample, about 1 + rounds x per_round of them. Throws Cancelled, and InputError if 2^31
/// samples would be collected. `progress` receives `clusters` times the fraction of rounds
/// that are done. Source: B. Bahmani et al., "Scalable k-means++", VLDB 2012, algorithm 2.
std::vector<std::int64_t> kmeans_parallel(SeedingSamples& samples, std::int64_t clusters,
                                          const ScalableSeeding& seeding,
                                          const RangeWorkers& workers,
                                          const ProgressFunction& progress = {});

}  // namespace lloyd
