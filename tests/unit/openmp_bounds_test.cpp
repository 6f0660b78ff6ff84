// Bounds of the openmp plugin: that they hold, and that labels by them are the definition's.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/distance.hpp>

#include "openmp/assignment.hpp"
#include "openmp/bound_kernels.hpp"
#include "openmp/bounds.hpp"
#include "openmp/instruction_set.hpp"
#include "openmp/pruning.hpp"

namespace lloyd_openmp {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (std::size_t choice = 1; choice < std::size(InstructionSet::kNames); ++choice) {
    const auto number = static_cast<std::int64_t>(choice);
    if (InstructionSet::has(number)) sets.emplace_back(number);
  }
  if (sets.empty()) sets.emplace_back();
  return sets;
}

TEST(OpenmpBounds, HoldWhileCentroidsMove) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-12, 6);
  for (int i = 0; i < 10000; ++i) {
    const double distance = std::pow(10, exponent(random));
    double way = std::pow(10, exponent(random));
    const double before = way;
    const auto bound = static_cast<float>(distance);
    const float upper = std::nextafter(bound, kInfinite), lower = std::nextafter(bound, 0.0F);
    const float stored_upper = store_upper(upper, published(way));
    const float stored_lower = store_lower(lower, published(way));
    way += std::pow(10, exponent(random));
    // True values, but for roundings to float32 that a reader makes and a comparison covers.
    const long double gone = static_cast<long double>(way) - before;
    EXPECT_GE(upper_now(stored_upper, published(way)), (upper + gone) * (1 - 0x1p-23L));
    EXPECT_LE(lower_now(stored_lower, published(way)),
              (lower - gone) + std::abs(lower - gone) * 0x1p-23L);
  }
}

TEST(OpenmpBounds, OfWhatFloat32CannotHoldSayNothing) {
  const Travel far = published(1e300), none = published(0);
  EXPECT_EQ(upper_bound(1e300), kInfinite);
  EXPECT_FALSE(settles(upper_now(store_upper(1, none), far), 1e30F));
  EXPECT_FALSE(settles(1, lower_now(store_lower(1e30F, none), far)));
  EXPECT_FALSE(settles(1, lower_now(store_lower(1e30F, far), far)));
  EXPECT_FALSE(settles(kInfinite, std::numeric_limits<float>::max() / 2));
  EXPECT_FALSE(settles(1, 1));
  EXPECT_FALSE(settles(1, std::nextafter(1.0F, 2.0F)));
  EXPECT_TRUE(settles(1, 1.001F));
}

TEST(OpenmpBounds, TravelIsAtLeastTheWay) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  constexpr std::int64_t k = 3, d = 5;
  std::vector<double> centroids(k * d);
  CentroidTravel travel;
  travel.begin(centroids.data(), k, d);
  EXPECT_EQ(travel.longest().up, 0);
  std::vector<long double> ways(k);
  long double longest = 0;
  for (int pass = 0; pass < 50; ++pass) {
    const std::vector<double> former = centroids;
    // The last one stays where it is.
    for (std::size_t i = 0; i < (k - 1) * d; ++i) centroids[i] += normal(random) / (pass + 1);
    travel.move(centroids.data());
    long double most = 0;
    for (std::size_t c = 0; c < k; ++c) {
      long double squared = 0;
      for (std::size_t j = c * d; j < (c + 1) * d; ++j) {
        const long double difference = static_cast<long double>(centroids[j]) - former[j];
        squared += difference * difference;
      }
      ways[c] += std::sqrt(squared);
      most = std::max(most, std::sqrt(squared));
      const Travel of_this = travel.of(static_cast<std::int64_t>(c));
      EXPECT_GE(of_this.up, ways[c]);
      EXPECT_LE(of_this.down, ways[c] * (1 + 0x1p-30L));
      EXPECT_LE(of_this.up - of_this.down, ways[c] * 0x1p-21L);
    }
    longest += most;
    EXPECT_GE(travel.longest().up, longest);
    EXPECT_LE(travel.longest().up, longest * (1 + 0x1p-22L));
  }
  EXPECT_EQ(travel.of(k - 1).up, 0);
}

TEST(OpenmpBounds, KernelsDoWhatTheArithmeticSays) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<float> uniform;
  constexpr std::int64_t k = 7, d = 2;
  std::vector<double> centroids(k * d);
  CentroidTravel travel;
  travel.begin(centroids.data(), k, d);
  for (const InstructionSet set : instruction_sets()) {
    for (double& value : centroids) value += static_cast<double>(uniform(random));
    travel.move(centroids.data());
    TileLabels nearest;
    TileBounds fresh;
    nearest.bounds = &fresh;
    for (std::int64_t i = 0; i < kTile; ++i) {
      nearest.labels[i] = static_cast<std::int32_t>(random() % k);
      fresh.upper[i] = uniform(random);
      fresh.lower[i] = fresh.upper[i] + uniform(random) / 4;
    }
    constexpr std::uint64_t kUnknown = 0x8000'0000'0001'0002;
    float upper[kTile], lower[kTile];
    store_bounds(set, nearest, kUnknown, travel, {upper, lower});
    for (double& value : centroids) value += 0.08 * static_cast<double>(uniform(random));
    const CentroidTravel before = travel;
    travel.move(centroids.data());
    const std::uint64_t unsettled = find_unsettled(set, nearest.labels, {upper, lower}, travel);
    int settled = 0;
    for (std::int64_t i = 0; i < kTile; ++i) {
      const Travel own = before.of(nearest.labels[i]);
      const bool unknown = (kUnknown >> i & 1) != 0;
      EXPECT_EQ(upper[i], unknown ? kInfinite : store_upper(fresh.upper[i], own));
      EXPECT_EQ(lower[i], unknown ? -kInfinite : store_lower(fresh.lower[i], before.longest()));
      const bool stands = settles(upper_now(upper[i], travel.of(nearest.labels[i])),
                                  lower_now(lower[i], travel.longest()));
      EXPECT_EQ((unsettled >> i & 1) == 0, stands) << i;
      settled += stands ? 1 : 0;
    }
    EXPECT_GT(settled, 8);
    EXPECT_LT(settled, 56);
  }
}

TEST(OpenmpBounds, MeasuresDistances) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  for (const InstructionSet set : instruction_sets()) {
    for (const std::int64_t d : {1, 3, 8, 17, 40, 131}) {
      const std::int64_t stride = d + 1;
      std::vector<float> samples;
      std::vector<double> centroids;
      for (std::int64_t i = 0; i < 9 * stride; ++i) {
        samples.push_back(static_cast<float>(normal(random)));
      }
      samples.resize(static_cast<std::size_t>(8 * stride + d));  // nothing behind the last is read
      for (std::int64_t i = 0; i < 4 * d; ++i) centroids.push_back(normal(random));
      const std::int64_t rows[] = {8, 0, 3};
      const std::int32_t labels[] = {2, 0, 0, 3, 0, 0, 0, 0, 1};
      double squared[3];
      measure_distances(set, samples.data(), stride, d, rows, 3, labels, centroids.data(), squared);
      for (int i = 0; i < 3; ++i) {
        const double defined = lloyd::squared_distance(samples.data() + rows[i] * stride,
                                                       centroids.data() + labels[rows[i]] * d, d);
        EXPECT_NEAR(squared[i], defined, defined * 1e-13);
      }
    }
  }
}

// Samples around k centres, some of them half way between two, and centroids that move.
template <class T>
void check_moving_centroids(std::int64_t n, std::int64_t d, std::int64_t k, double offset,
                            Algorithm algorithm) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n + d + k));
  std::normal_distribution<double> normal;
  std::vector<double> centroids;
  for (std::int64_t i = 0; i < k * d; ++i) centroids.push_back(offset + 4 * normal(random));
  std::vector<T> samples;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto a = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(k));
    const auto b = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(k));
    for (std::int64_t j = 0; j < d; ++j) {
      const double of_a = centroids[static_cast<std::size_t>(a * d + j)];
      const double of_b = centroids[static_cast<std::size_t>(b * d + j)];
      samples.push_back(static_cast<T>(i % 3 == 0 ? (of_a + of_b) / 2 : of_a + normal(random)));
    }
  }
  const lloyd::Dataset data("samples", lloyd::Matrix::own(samples, n, d));
  for (const InstructionSet set : instruction_sets()) {
    Assignment<T> assignment(data.view(), 1, set, algorithm);
    assignment.keep_bounds(true);
    std::vector<std::int32_t> labels(static_cast<std::size_t>(n), -1);
    std::vector<double> moving = centroids;
    std::int64_t distances = 0;
    constexpr int kPasses = 14;
    for (int pass = 0; pass < kPasses; ++pass) {
      assignment.set_centroids(moving.data(), k);
      std::int64_t reported = 0, changed = 0;
      // Blocks that are no whole tiles.
      for (std::int64_t begin = 0; begin < n; begin += 333) {
        changed += assignment.assign(
            0, {begin, std::min(begin + 333, n)}, labels.data() + begin,
            [&](std::int64_t, std::int32_t from, std::int32_t to) { reported += from != to; });
      }
      EXPECT_EQ(reported, changed);
      distances += assignment.take_distances();
      for (std::int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(labels[static_cast<std::size_t>(i)],
                  lloyd::nearest_centroid(samples.data() + i * d, moving.data(), k, d).label)
            << "sample " << i << ", pass " << pass << ", set " << set.index();
      }
      if (pass == 6) {
        // One jumps, as an empty cluster's does, and one falls onto another.
        for (std::int64_t j = 0; j < d; ++j) {
          moving[static_cast<std::size_t>(j)] += 20 * normal(random);
          moving[static_cast<std::size_t>((k - 1) * d + j)] =
              moving[static_cast<std::size_t>((k / 2) * d + j)];
        }
      } else if (pass != 9) {  // once nothing moves
        for (double& value : moving) value += 0.3 * normal(random) / (1 + pass * pass);
      }
    }
    EXPECT_LT(distances, n * k * kPasses);
  }
}

TEST(OpenmpPruning, LabelsAreTheDefinitions) {
  for (const Algorithm algorithm :
       {Algorithm::hamerly, Algorithm::elkan, Algorithm::yinyang, Algorithm::automatic}) {
    for (const double offset : {0.0, 1e4}) {
      check_moving_centroids<float>(2000, 2, 9, offset, algorithm);    // tiles
      check_moving_centroids<float>(2000, 16, 70, offset, algorithm);  // integers
      check_moving_centroids<float>(1500, 130, 8, offset, algorithm);  // rows
      check_moving_centroids<double>(1500, 5, 12, offset, algorithm);
    }
  }
}

// Bounds belong to one fit.
TEST(OpenmpPruning, ForgetsBoundsOfAnotherFit) {
  const std::vector<float> samples = {0, 1, 10, 11};
  const lloyd::Dataset data("samples", lloyd::Matrix::own(samples, 4, 1));
  Assignment<float> assignment(data.view(), 1, InstructionSet(), Algorithm::hamerly);
  const std::vector<double> near = {0, 10}, swapped = {10, 0};
  const auto label = [&](const std::vector<double>& centroids, std::vector<std::int32_t> former) {
    assignment.set_centroids(centroids.data(), 2);
    assignment.assign(0, {0, 4}, former.data(), [](std::int64_t, std::int32_t, std::int32_t) {});
    return former;
  };
  const std::vector<std::int32_t> none(4, -1), first = {0, 0, 1, 1}, second = {1, 1, 0, 0};
  assignment.keep_bounds(true);
  for (int pass = 0; pass < 4; ++pass) EXPECT_EQ(label(near, pass == 0 ? none : first), first);
  assignment.keep_bounds(false);
  EXPECT_EQ(label(near, second), first);  // labels of anybody
  EXPECT_EQ(label(swapped, first), second);
  assignment.keep_bounds(true);
  EXPECT_EQ(label(swapped, none), second);
  for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(label(swapped, second), second);
}

}  // namespace
}  // namespace lloyd_openmp
