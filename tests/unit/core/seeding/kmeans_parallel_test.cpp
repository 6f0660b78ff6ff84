// k-means|| against a plain computation of its definition, and with little choice of samples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/random.hpp>
#include <lloyd/seeding.hpp>

#include "unit/support/seeding_data.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

__extension__ typedef unsigned __int128 Wide;

Seeding parallel(std::uint64_t seed = 0, double oversampling = 1, std::int64_t rounds = 5) {
  Seeding seeding;
  seeding.method = SeedingMethod::kmeans_parallel;
  seeding.seed = seed;
  seeding.oversampling = oversampling;
  seeding.rounds = rounds;
  return seeding;
}

// Integer weights as defined by the seeding: their total is below 2^63 for `count` samples.
class Weights {
 public:
  Weights(const std::vector<double>& distances, std::int64_t count) {
    const double largest = *std::max_element(distances.begin(), distances.end());
    int bits = 0;
    while ((count >> bits) > 0) ++bits;
    const int exponent = 62 - std::ilogb(largest) - bits;
    for (const double value : distances) {
      values.push_back(static_cast<std::uint64_t>(std::floor(std::ldexp(value, exponent))));
    }
  }
  std::vector<std::uint64_t> values;
};

class Plain {
 public:
  explicit Plain(const Dataset& data) : d_(data.features()) {
    for (std::int64_t i = 0; i < data.samples(); ++i) {
      rows_.emplace_back();
      for (std::int64_t j = 0; j < d_; ++j) rows_.back().push_back(data.matrix().at(i, j));
    }
  }

  double distance(std::int64_t a, std::int64_t b) const {
    return squared_distance(rows_[static_cast<std::size_t>(a)].data(),
                            rows_[static_cast<std::size_t>(b)].data(), d_);
  }
  std::int64_t n() const { return static_cast<std::int64_t>(rows_.size()); }

  // The squared distance of a sample to the nearest of `others`, and its index there.
  std::pair<double, std::size_t> nearest(std::int64_t i, const Indices& others) const {
    std::pair best(std::numeric_limits<double>::infinity(), std::size_t{0});
    for (std::size_t c = 0; c < others.size(); ++c) {
      const double value = distance(i, others[c]);
      if (value < best.first) best = {value, c};
    }
    return best;
  }

 private:
  std::int64_t d_;
  std::vector<std::vector<double>> rows_;
};

// The index of the weight that contains the position in the cumulative sum.
std::size_t position_of(Wide position, const std::vector<Wide>& weights) {
  std::size_t i = 0;
  while (position >= weights[i]) position -= weights[i++];
  return i;
}

// Greedy k-means++ over candidates that represent `counts` samples each.
Indices plain_reduction(const Plain& plain, const Indices& candidates, const Indices& counts,
                        std::int64_t k, const RandomStream& stream) {
  std::uint64_t draws = 0;
  const auto m = candidates.size();
  const auto trials = 2 + static_cast<int>(std::log(static_cast<double>(k)));
  const std::vector<Wide> multiplicities(counts.begin(), counts.end());
  const auto count = static_cast<std::uint64_t>(plain.n());
  Indices chosen = {candidates[position_of(stream.below(count, draws++), multiplicities)]};
  while (std::ssize(chosen) < k) {
    std::vector<double> distances;
    for (const std::int64_t i : candidates) distances.push_back(plain.nearest(i, chosen).first);
    const Weights weights(distances, plain.n());
    std::vector<Wide> shares;
    Wide total = 0;
    for (std::size_t c = 0; c < m; ++c) {
      total += shares.emplace_back(multiplicities[c] * weights.values[c]);
    }
    std::size_t best = m;
    Wide least = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const std::size_t candidate =
          position_of(stream.below(static_cast<std::uint64_t>(total), draws++), shares);
      std::vector<double> after = distances;
      for (std::size_t c = 0; c < m; ++c) {
        after[c] = std::min(after[c], plain.distance(candidates[c], candidates[candidate]));
      }
      // Keeps the scale of the distances before: the largest one may have decreased.
      after.push_back(*std::max_element(distances.begin(), distances.end()));
      const Weights fallen(after, plain.n());
      Wide potential = 0;
      for (std::size_t c = 0; c < m; ++c) potential += multiplicities[c] * fallen.values[c];
      if (best == m || potential < least) {
        best = candidate;
        least = potential;
      }
    }
    chosen.push_back(candidates[best]);
  }
  return chosen;
}

// k-means|| as defined, for data with enough distinct samples.
Indices plain_parallel(const Dataset& data, std::int64_t k, const Seeding& seeding) {
  const Plain plain(data);
  const auto n = static_cast<std::uint64_t>(plain.n());
  const RandomStream starts(seeding.seed, 0x7365656400000000u);
  const RandomStream rounds(seeding.seed, 0x7365656500000000u);
  const RandomStream reduction(seeding.seed, 0x7365656600000000u);
  const Wide per_round =
      static_cast<Wide>(std::ceil(seeding.oversampling * static_cast<double>(k)));
  std::uint64_t draws = 0;
  Indices collected = {static_cast<std::int64_t>(starts.below(n, draws++))};
  Indices distinct, counts;
  for (std::uint64_t round = 0;
       round < static_cast<std::uint64_t>(seeding.rounds) || std::ssize(distinct) < k; ++round) {
    std::vector<double> distances;
    for (std::int64_t i = 0; i < plain.n(); ++i) {
      distances.push_back(plain.nearest(i, collected).first);
    }
    const Weights weights(distances, plain.n());
    Wide total = 0;
    for (const std::uint64_t weight : weights.values) total += weight;
    Indices found;
    for (std::uint64_t i = 0; i < n; ++i) {
      const Wide share = per_round * weights.values[i];
      const bool certain = share >= total;
      if (certain || Wide{rounds.bits(round * n + i)} * total < share << 64) {
        if (weights.values[i] > 0) found.push_back(static_cast<std::int64_t>(i));
      }
    }
    if (found.empty()) {
      const std::vector<Wide> wide(weights.values.begin(), weights.values.end());
      const Wide position = starts.below(static_cast<std::uint64_t>(total), draws++);
      found.push_back(static_cast<std::int64_t>(position_of(position, wide)));
    }
    collected.insert(collected.end(), found.begin(), found.end());
    Indices all(collected.size());
    for (std::int64_t i = 0; i < plain.n(); ++i) ++all[plain.nearest(i, collected).second];
    distinct.clear();
    counts.clear();
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (all[c] == 0) continue;
      distinct.push_back(collected[c]);
      counts.push_back(all[c]);
    }
  }
  return plain_reduction(plain, distinct, counts, k, reduction);
}

TEST(KMeansParallel, FollowsItsDefinition) {
  const auto check = [](const Dataset& data, std::int64_t k, const Seeding& seeding) {
    EXPECT_EQ(seed_indices(data, k, seeding), plain_parallel(data, k, seeding))
        << data.name() << " k=" << k << " oversampling=" << seeding.oversampling
        << " rounds=" << seeding.rounds << " seed=" << seeding.seed;
  };
  for (const std::uint64_t seed : {0, 1, 2}) {
    check(scattered<float>(500, 3), 8, parallel(seed));
    check(scattered<double>(300, 2), 20, parallel(seed, 0.5, 3));
    check(scattered<float>(200, 5), 5, parallel(seed, 2, 1));
  }
  // More rounds than requested, rounds without a new candidate, and a round that takes all samples.
  check(scattered<float>(150, 2), 40, parallel(3, 0.1, 1));
  check(scattered<float>(60, 2), 10, parallel(3, 0.01, 2));
  check(scattered<double>(40, 2), 40, parallel(3, 100, 1));
}

TEST(KMeansParallel, ChoosesDistinctSamples) {
  const Dataset data = scattered<float>(70, 2);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const std::int64_t k : {1, 2, 7, 69, 70}) {
      for (const double oversampling : {0.01, 0.5, 3.0, 1000.0}) {
        const Indices indices = seed_indices(data, k, parallel(seed, oversampling, 2));
        ASSERT_EQ(std::ssize(indices), k);
        EXPECT_EQ(std::set(indices.begin(), indices.end()).size(), indices.size());
        EXPECT_GE(*std::min_element(indices.begin(), indices.end()), 0);
        EXPECT_LT(*std::max_element(indices.begin(), indices.end()), 70);
      }
    }
  }
}

TEST(KMeansParallel, TakesTheLowestIndicesWhenNoDistinctSampleIsLeft) {
  const Dataset one("one", Matrix::from_values(std::vector<float>{3, 4}, 1, 2));
  EXPECT_EQ(seed_indices(one, 1, parallel()), Indices{0});
  const Dataset constant("constant", Matrix::from_values(std::vector<float>(12, 0.1f), 6, 2));
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Indices indices = seed_indices(constant, 4, parallel(seed));
    Indices expected = {indices[0]};
    for (std::int64_t i = 0; expected.size() < 4; ++i) {
      if (i != indices[0]) expected.push_back(i);
    }
    EXPECT_EQ(indices, expected);
  }
  // Two values: one sample of each must come first, whatever the candidates are.
  std::vector<double> values(9000, 5.0);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = -1;
  const Dataset two("two", Matrix::from_values(std::move(values), 9000, 1));
  for (const double oversampling : {0.1, 1.0, 1000.0}) {
    const Indices indices = seed_indices(two, 5, parallel(1, oversampling));
    EXPECT_NE(indices[0] % 3 == 0, indices[1] % 3 == 0);
    EXPECT_EQ(std::set(indices.begin(), indices.end()).size(), 5u);
  }
}

// Powers of two cancel in the weights, even if squared distances are denormal or huge.
TEST(KMeansParallel, DoesNotDependOnScale) {
  const Indices expected = seed_indices(lattice(), 8, parallel(4));
  for (const double scale : {0x1p-537, 0x1p-500, 0x1p-20, 0x1p300, 0x1p475}) {
    EXPECT_EQ(seed_indices(lattice<double>(kRows, scale), 8, parallel(4)), expected) << scale;
  }
}

TEST(KMeansParallel, SurvivesOneSampleFarAway) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i);
  values[500] = 1e145 - 1e130;
  const Dataset data("outlier", Matrix::from_values(std::move(values), 1000, 1));
  const Indices indices = seed_indices(data, 8, parallel());
  EXPECT_EQ(std::set(indices.begin(), indices.end()).size(), 8u);
  EXPECT_NE(std::find(indices.begin(), indices.end(), 500), indices.end());
}

TEST(KMeansParallel, FindsSeparatedGroups) {
  std::vector<float> values;
  for (int i = 0; i < 800; ++i) {
    values.push_back(static_cast<float>(1e6 + 1000 * (i % 8)) + static_cast<float>(i % 13) / 16);
  }
  const Dataset data("groups", Matrix::from_values(std::move(values), 800, 1));
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<std::int64_t> groups;
    for (const std::int64_t index : seed_indices(data, 8, parallel(seed))) groups.insert(index % 8);
    EXPECT_EQ(groups.size(), 8u) << "seed " << seed;
  }
}

// On data without a matching cluster structure the result is about as good as that of k-means++.
TEST(KMeansParallel, IsAsGoodAsPlusPlus) {
  const Dataset data = make_blobs({.samples = 4000, .features = 4, .centers = 3, .seed = 5});
  const auto potential = [&](SeedingMethod method) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Seeding seeding = parallel(seed);
      seeding.method = method;
      const std::vector<double> centroids = seed_centroids(data, 50, seeding);
      for (std::int64_t i = 0; i < data.samples(); ++i) {
        const auto* x = static_cast<const float*>(data.matrix().data) + 4 * i;
        sum += nearest_centroid(x, centroids.data(), 50, 4).squared_distance;
      }
    }
    return sum;
  };
  const double plus_plus = potential(SeedingMethod::kmeans_plus_plus);
  EXPECT_LT(potential(SeedingMethod::kmeans_parallel), 1.03 * plus_plus);
  EXPECT_GT(potential(SeedingMethod::random), 1.1 * plus_plus);
}

TEST(KMeansParallel, OptionsOutOfRangeAreRefused) {
  const auto refusal = [](double oversampling, std::int64_t rounds) {
    return message_of<InputError>(
        [&] { seed_indices(lattice(), 2, parallel(0, oversampling, rounds)); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(0, 5), "oversampling is 0; it must be a number above 0, at most 1000");
  EXPECT_EQ(refusal(nan, 5), "oversampling is nan; it must be a number above 0, at most 1000");
  EXPECT_EQ(refusal(1001, 5), "oversampling is 1001; it must be a number above 0, at most 1000");
  EXPECT_EQ(refusal(1, 0), "rounds is 0; it must be from 1 to 1000");
  EXPECT_EQ(refusal(1, 1001), "rounds is 1001; it must be from 1 to 1000");
}

}  // namespace
}  // namespace lloyd
