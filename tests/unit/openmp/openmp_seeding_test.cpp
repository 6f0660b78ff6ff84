// Seeding kernels of the openmp plugin: passes in integers and kept distances have the bits of the
// definition.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/thread_team.hpp>

#include "openmp/seeding/rated_candidates.hpp"
#include "openmp/seeding/rounded_samples.hpp"
#include "openmp/seeding/seeding_kernels.hpp"
#include "unit/openmp/openmp_instruction_sets.hpp"

namespace lloyd_openmp {
namespace {

constexpr float kLargest = std::numeric_limits<float>::infinity();

struct SeedingData {
  std::string name;
  std::int64_t n, d;
  std::vector<float> values;

  const float* row(std::int64_t i) const { return values.data() + i * d; }
  double distance(std::int64_t i, const std::vector<double>& centroids, std::int64_t c) const {
    return lloyd::squared_distance(row(i), centroids.data() + c * d, d);
  }
  // m samples, spread over the data.
  std::vector<double> candidates(std::int64_t m) const {
    std::vector<double> rows;
    for (std::int64_t c = 0; c < m; ++c) {
      const float* const from = row(c * 7919 % n);
      rows.insert(rows.end(), from, from + d);
    }
    return rows;
  }
};

// Normal values times `scale`, plus `shift`.
SeedingData normal_data(std::string name, std::int64_t n, std::int64_t d, double scale = 1,
                        double shift = 0) {
  SeedingData data{std::move(name), n, d, {}};
  std::mt19937 random(static_cast<unsigned>(n + d));
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < n * d; ++i) {
    data.values.push_back(static_cast<float>(normal(random) * scale + shift));
  }
  return data;
}

std::vector<SeedingData> adversarial_data() {
  std::vector<SeedingData> sets = {
      normal_data("a whole number of tiles", 256, 32), normal_data("a part of a tile", 201, 17),
      normal_data("less than a tile", 9, 128),         normal_data("large values", 300, 20, 1e8),
      normal_data("tiny values", 300, 20, 1e-8),       normal_data("denormals", 300, 20, 1e-42),
      normal_data("huge values", 300, 20, 1e25),       normal_data("far out", 300, 20, 1e-3, 4096)};
  SeedingData& ties = sets.emplace_back(normal_data("ties and duplicates", 400, 16));
  for (float& value : ties.values) value = std::round(value);
  SeedingData& twins = sets.emplace_back(normal_data("twins", 400, 16));
  for (std::int64_t i = 1; i < twins.n; i += 2) {
    for (std::int64_t j = 0; j < twins.d; ++j) {
      twins.values[static_cast<std::size_t>(i * twins.d + j)] =
          std::nextafter(twins.row(i - 1)[j], j % 2 == 0 ? kLargest : -kLargest);
    }
  }
  sets.emplace_back(normal_data("an outlier", 400, 16)).values[3000] = 1e6F;
  sets.push_back({"constant", 100, 16, std::vector<float>(1600, 2.5F)});
  return sets;
}

lloyd::Dataset dataset_of(const SeedingData& data) {
  return lloyd::Dataset(data.name, lloyd::Matrix::from_values(data.values, data.n, data.d));
}

// Squared distances that are those to a candidate, or off by one rounding error.
std::vector<double> distances_at_the_bound(const SeedingData& data,
                                           const std::vector<double>& candidates, std::int64_t m) {
  std::vector<double> distances;
  for (std::int64_t i = 0; i < data.n; ++i) {
    const double distance = data.distance(i, candidates, i % m);
    const double neighbours[] = {distance, std::nextafter(distance, 1e300),
                                 std::nextafter(distance, 0.0)};
    distances.push_back(neighbours[i / m % 3]);
  }
  return distances;
}

class OpenmpSeedingTest : public testing::Test {
 protected:
  // One call of gains(), compared with a plain loop.
  static void check_gains(OpenmpSeeding& seeding, const SeedingData& data,
                          const std::vector<double>& candidates,
                          const std::vector<double>& distances) {
    const auto m = std::ssize(candidates) / data.d;
    const double largest = *std::max_element(distances.begin(), distances.end());
    lloyd::GainsRequest request;
    request.candidates = candidates.data();
    request.count = m;
    request.squared_distances = distances.data();
    if (largest > 0) {  // two factors, since one would overflow for subnormal distances
      const int exponent = 45 - std::ilogb(largest);
      request.scale.first = std::ldexp(1.0, exponent / 2);
      request.scale.second = std::ldexp(1.0, exponent - exponent / 2);
    }
    std::vector<std::int64_t> gains(static_cast<std::size_t>(m));
    request.gains = gains.data();
    ASSERT_TRUE(seeding.gains(request, nullptr).ok());
    for (std::int64_t c = 0; c < m; ++c) {
      std::int64_t expected = 0;
      for (std::int64_t i = 0; i < data.n; ++i) {
        const double before = distances[static_cast<std::size_t>(i)];
        const double least = std::min(before, data.distance(i, candidates, c));
        expected += request.scale.weight(before) - request.scale.weight(least);
      }
      EXPECT_EQ(gains[static_cast<std::size_t>(c)], expected) << data.name << ", candidate " << c;
    }
  }

  // One call of nearest() with candidate c, compared with a plain loop.
  static void check_nearest(OpenmpSeeding& seeding, const SeedingData& data,
                            const std::vector<double>& candidates, std::int64_t c,
                            std::vector<double>& distances) {
    std::vector<double> expected = distances;
    std::vector<std::int32_t> expected_nearest(distances.size(), -1), nearest(distances.size(), -1);
    for (std::int64_t i = 0; i < data.n; ++i) {
      const double distance = data.distance(i, candidates, c);
      if (!(distance < expected[static_cast<std::size_t>(i)])) continue;
      expected[static_cast<std::size_t>(i)] = distance;
      expected_nearest[static_cast<std::size_t>(i)] = 5;
    }
    lloyd::NearestRequest request;
    request.centroids = candidates.data() + c * data.d;
    request.count = 1;
    request.first_index = 5;
    request.squared_distances = distances.data();
    request.nearest = nearest.data();
    ASSERT_TRUE(seeding.nearest(request, nullptr).ok());
    EXPECT_EQ(distances, expected) << data.name << ", candidate " << c;
    EXPECT_EQ(nearest, expected_nearest) << data.name << ", candidate " << c;
  }
};

TEST_F(OpenmpSeedingTest, PassesHaveTheBitsOfTheDefinition) {
  for (const SeedingData& data : adversarial_data()) {
    const lloyd::Dataset dataset = dataset_of(data);
    for (const InstructionSet set : instruction_sets()) {
      for (const int threads : {1, 3}) {
        lloyd::ThreadTeam team(threads);
        OpenmpSeeding seeding(dataset.view(), team, set);
        for (const std::int64_t m : {4, 5, 8, 13, 29}) {
          const std::vector<double> candidates = data.candidates(m);
          std::vector<double> distances = distances_at_the_bound(data, candidates, m);
          check_gains(seeding, data, candidates, distances);
          check_nearest(seeding, data, candidates, m / 2, distances);
          check_nearest(seeding, data, candidates, 0, distances);
          check_gains(seeding, data, candidates, distances);
        }
        seeding.release();
        const std::vector<double> candidates = data.candidates(5);
        check_gains(seeding, data, candidates, distances_at_the_bound(data, candidates, 5));
      }
    }
  }
}

// Distances that gains() has kept must not be used for other squared distances.
TEST_F(OpenmpSeedingTest, ChangedSquaredDistancesNeedAPass) {
  const SeedingData data = normal_data("changed", 1000, 16);
  const lloyd::Dataset dataset = dataset_of(data);
  lloyd::ThreadTeam team(2);
  OpenmpSeeding seeding(dataset.view(), team, InstructionSet());
  const std::vector<double> candidates = data.candidates(6);
  const std::vector<double> start(static_cast<std::size_t>(data.n), 4.0);
  for (const std::size_t changed : {0, 500, 999}) {
    check_gains(seeding, data, candidates, start);
    std::vector<double> distances = start;
    distances[changed] = 1e6;
    check_nearest(seeding, data, candidates, 3, distances);
  }
}

TEST_F(OpenmpSeedingTest, KeptDistancesAreThoseOfCandidates) {
  constexpr std::int64_t kSamples = 100;
  RatedCandidates rated;
  const std::vector<double> candidates = {1, 2, 3, 4};
  const std::vector<double> distances(kSamples, 9.0);
  lloyd::ThreadTeam team(2);
  const auto visited = [&](double centroid) {
    std::vector<std::int64_t> samples;
    const bool known = rated.visit_nearer(&centroid, distances.data(), team,
                                          [&](std::int64_t i, double) { samples.push_back(i); });
    return known ? samples : std::vector<std::int64_t>{-1};
  };
  const auto rate = [&](std::int64_t found) {
    rated.begin(candidates.data(), 4, kSamples, 1, 2);
    rated.keep(distances.data(), 0, kSamples);
    for (std::int64_t i = 0; i < found; ++i) rated.add(static_cast<int>(i % 2), i, i % 4, 1.0);
    rated.end();
  };
  rate(6);
  EXPECT_EQ(visited(2), (std::vector<std::int64_t>{1, 5}));
  EXPECT_EQ(visited(4), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(visited(5), (std::vector<std::int64_t>{-1})) << "it is no candidate";
  rate(80);
  EXPECT_EQ(visited(2), (std::vector<std::int64_t>{-1})) << "the list is too long";
  rate(1);
  EXPECT_EQ(visited(1), (std::vector<std::int64_t>{0}));
  rated.release();
  EXPECT_EQ(visited(1), (std::vector<std::int64_t>{-1}));
}

// The integer screen proves nearly everything where one unit is small compared with the distances.
TEST_F(OpenmpSeedingTest, IntegersLeaveFewSamplesOpen) {
  const SeedingData data = normal_data("open", 640, 48);
  if (RoundedSamples::bytes(data.n, data.d) == 0) GTEST_SKIP() << "it has no fast dot product";
  const lloyd::Dataset dataset = dataset_of(data);
  constexpr std::int64_t kCandidates = 8;
  const std::vector<double> candidates = data.candidates(kCandidates);
  const std::vector<double> distances(static_cast<std::size_t>(data.n), 90.0);
  for (const InstructionSet set : instruction_sets()) {
    RoundedSamples rounded(dataset.view(), set);
    ASSERT_TRUE(rounded.set_centroids(candidates.data(), kCandidates));
    std::int64_t nearer = 0, open = 0;
    for (std::int64_t begin = 0; begin < data.n; begin += kTile) {
      std::int32_t offsets[kCandidates];
      std::uint64_t below[kCandidates];
      rounded.screen_below(begin, kTile, distances.data() + begin, offsets, below);
      for (std::int64_t i = 0; i < kTile; ++i) {
        for (std::int64_t c = 0; c < kCandidates; ++c) {
          const bool is_nearer = data.distance(begin + i, candidates, c) < 90.0;
          const bool is_open = (below[c] >> i & 1) != 0;
          EXPECT_TRUE(is_open || !is_nearer);
          nearer += is_nearer;
          open += is_open;
        }
      }
    }
    EXPECT_GT(nearer, 1000);
    EXPECT_LT(nearer, 4000);
    EXPECT_LT(open - nearer, 20);
  }
}

// Where the unit is too coarse, screening in integers ends until the next fit.
TEST_F(OpenmpSeedingTest, WastedPassesEndScreeningInIntegers) {
  const SeedingData data = normal_data("wasted", 640, 48);
  if (RoundedSamples::bytes(data.n, data.d) == 0) GTEST_SKIP() << "it has no fast dot product";
  const lloyd::Dataset dataset = dataset_of(data);
  RoundedSamples rounded(dataset.view(), InstructionSet());
  const std::vector<double> candidates = data.candidates(8);
  ASSERT_TRUE(rounded.set_centroids(candidates.data(), 8));
  rounded.record_pass(5120, 40);
  EXPECT_TRUE(rounded.set_centroids(candidates.data(), 8));
  rounded.record_pass(5120, 2000);
  EXPECT_FALSE(rounded.set_centroids(candidates.data(), 8));
  rounded.release();
  EXPECT_TRUE(rounded.set_centroids(candidates.data(), 8));
}

}  // namespace
}  // namespace lloyd_openmp
