// k-means||: few passes over the data instead of one or two for each centroid.
#pragma once

#include <cstdint>
#include <vector>

#include <lloyd/random.hpp>

#include "seeding_samples.hpp"
#include "workers.hpp"

namespace lloyd {

struct ScalableSeeding {
  std::int64_t per_round = 1;  ///< samples that a round is expected to add at the most; >= 1
  std::int64_t rounds = 5;     ///< >= 1
  RandomStream starts;         ///< the first sample, and single ones where a round finds none
  RandomStream rounds_stream;  ///< one number for each sample and round
  RandomStream reduction;      ///< greedy k-means++ over what was collected
};

/// Chooses `clusters` samples, 1 <= clusters <= n. Starting with one sample at random, each round
/// collects every sample with probability min(1, per_round x its share of the sum of squared
/// distances to those collected before; further rounds follow while there are fewer than
/// `clusters`. Then greedy k-means++ chooses among those collected, each weighted by the number of
/// samples that are nearest to it. All that decides is a definition or an integer, so the choice
/// depends on nothing but data and streams. Memory: 12 bytes a sample and O(d) for each one
/// collected, about 1 + rounds x per_round. Throws Cancelled, and InputError where 2^31 would be
/// collected. Source: B. Bahmani et al., "Scalable k-means++", VLDB 2012, algorithm 2.
std::vector<std::int64_t> kmeans_parallel(SeedingSamples& samples, std::int64_t clusters,
                                          const ScalableSeeding& seeding, const Workers& workers);

}  // namespace lloyd
