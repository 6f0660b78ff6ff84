#include "seeding/kmeans_plus_plus.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include <lloyd/plugin/sdk/float_environment.hpp>

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

std::vector<std::int64_t> kmeans_plus_plus(Potential& potential, std::int64_t clusters,
                                           const RandomStream& stream,
                                           const ProgressFunction& progress) {
  const FloatEnvironment environment;
  std::uint64_t draws = 0;
  std::vector<std::int64_t> chosen;
  double largest = 0;
  const auto add = [&](std::int64_t row) {
    chosen.push_back(row);
    largest = potential.choose(row);
    if (progress) progress(std::ssize(chosen), clusters);
  };

  add(potential.sample_at(stream.below(potential.count(), draws++)));
  std::vector<std::uint64_t> positions(
      static_cast<std::size_t>(kmeans_plus_plus_candidates(clusters)));
  std::vector<std::int64_t> gains(positions.size());
  while (static_cast<std::int64_t>(chosen.size()) < clusters && largest > 0) {
    const std::uint64_t total = potential.weigh(largest);
    for (auto& position : positions) position = stream.below(total, draws++);
    const std::vector<std::int64_t> candidates = potential.find(positions);
    potential.rate(candidates, gains);
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
