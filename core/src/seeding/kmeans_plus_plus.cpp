#include "seeding/kmeans_plus_plus.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

#include <lloyd/plugin/sdk/float_environment.hpp>

#include "seeding/sample_weights.hpp"

namespace lloyd {

std::int64_t kmeans_plus_plus_candidates(std::int64_t clusters) {
  // kPowersOfE[i] = ceil(e^(i+1)), the smallest integer with a natural logarithm of at least i + 1.
  // A table avoids rounding of a computed logarithm.
  constexpr std::array<std::int64_t, 22> kPowersOfE = {
      3,        8,        21,        55,        149,        404,       1097,    2981,
      8104,     22027,    59875,     162755,    442414,     1202605,   3269018, 8886111,
      24154953, 65659970, 178482301, 485165196, 1318815735, 3584912847};
  return 2 +
         (std::upper_bound(kPowersOfE.begin(), kPowersOfE.end(), clusters) - kPowersOfE.begin());
}

std::vector<std::int64_t> kmeans_plus_plus(SeedingSamples& samples, std::int64_t clusters,
                                           const RandomStream& stream, const RangeWorkers& workers,
                                           const ProgressFunction& progress) {
  const FloatEnvironment environment;
  std::uint64_t draws = 0;
  SampleWeights weights(samples, workers);
  std::vector<double> squared_distances(static_cast<std::size_t>(samples.samples()),
                                        std::numeric_limits<double>::infinity());
  std::vector<std::int64_t> chosen;
  double largest = 0;
  const auto add = [&](std::int64_t index) {
    chosen.push_back(index);
    largest = samples.fold_nearest(samples.rows({&index, 1}), 0, squared_distances.data(), nullptr);
    if (progress) progress(std::ssize(chosen), clusters);
  };

  add(weights.sample_at(stream.below(weights.count(), draws++)));
  std::vector<std::uint64_t> positions(
      static_cast<std::size_t>(kmeans_plus_plus_candidates(clusters)));
  std::vector<std::int64_t> gains(positions.size());
  while (static_cast<std::int64_t>(chosen.size()) < clusters && largest > 0) {
    weights.weigh(squared_distances.data(), largest);
    for (auto& position : positions) position = stream.below(weights.total(), draws++);
    const std::vector<std::int64_t> candidates = weights.find(positions);
    samples.rate(samples.rows(candidates), squared_distances.data(), weights.scale(), gains);
    const auto best = std::max_element(gains.begin(), gains.end());
    add(candidates[static_cast<std::size_t>(best - gains.begin())]);
  }
  if (static_cast<std::int64_t>(chosen.size()) < clusters) {
    add_lowest_unchosen(chosen, clusters);
    if (progress) progress(clusters, clusters);
  }
  return chosen;
}

void add_lowest_unchosen(std::vector<std::int64_t>& chosen, std::int64_t clusters) {
  const std::unordered_set<std::int64_t> taken(chosen.begin(), chosen.end());
  for (std::int64_t i = 0; static_cast<std::int64_t>(chosen.size()) < clusters; ++i) {
    if (!taken.contains(i)) chosen.push_back(i);
  }
}

}  // namespace lloyd
