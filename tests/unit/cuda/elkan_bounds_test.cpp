// The bounds of cuda-elkan: rounded to the safe side for every magnitude, and for near-ties.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/plugin/sdk/distance.hpp>

#include "cuda-elkan/bounds.hpp"

namespace lloyd_cuda_elkan {
namespace {

__extension__ typedef __float128 Quad;  // squares of float64 are exact, their sums almost

Quad squared_exactly(const std::vector<double>& x, const std::vector<double>& c) {
  Quad sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const Quad difference = static_cast<Quad>(x[j]) - c[j];
    sum += difference * difference;
  }
  return sum;
}

double squared(const std::vector<double>& x, const std::vector<double>& c) {
  return lloyd::squared_distance(x.data(), c.data(), static_cast<std::int64_t>(x.size()));
}

// Values of any magnitude between 2^-540 and 2^480; some of their squares underflow.
std::vector<double> random_vector(std::mt19937_64& random, std::size_t d, int exponent) {
  std::normal_distribution<double> normal;
  std::vector<double> x(d);
  for (double& value : x) value = std::ldexp(normal(random), exponent);
  return x;
}

TEST(ElkanBounds, DistancesLieBetweenTheirBoundsAtAnyMagnitude) {
  std::mt19937_64 random(1);
  for (int exponent = -540; exponent <= 480; ++exponent) {
    for (const std::size_t d : {1, 2, 7, 300}) {
      const std::vector<double> x = random_vector(random, d, exponent);
      const std::vector<double> c = random_vector(random, d, exponent);
      const double computed = squared(x, c);
      const Quad exact = squared_exactly(x, c);
      const Quad lower = lower_bound(computed);
      const Quad upper = upper_bound(computed);
      EXPECT_LE(lower * lower, exact) << exponent << " " << d;
      // The bound is infinite beyond the range of float32.
      if (std::isfinite(static_cast<float>(upper))) {
        EXPECT_GE(upper * upper, exact) << exponent;
      }
      if (exponent > -60 && exponent < 60) {
        EXPECT_GE(lower * lower, exact * (1 - 1e-5)) << "not worth much";
        EXPECT_LE(upper * upper, exact * (1 + 1e-5)) << "not worth much";
      }
    }
  }
}

TEST(ElkanBounds, AreFiniteAndSafeAtTheEnds) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(lower_bound(0), 0.0f);
  EXPECT_GT(upper_bound(0), 0.0f);
  EXPECT_EQ(lower_bound(infinity), std::numeric_limits<float>::max());
  EXPECT_EQ(lower_bound(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(upper_bound(infinity), std::numeric_limits<float>::infinity());
  EXPECT_EQ(upper_bound(1e300), std::numeric_limits<float>::infinity());
  // An infinite or NaN limit excludes no centroid.
  EXPECT_FALSE(lower_bound(infinity) > exclusion_limit(upper_bound(infinity)));
  EXPECT_FALSE(lower_bound(infinity) > exclusion_limit(std::nanf("")));
  // On both sides of each value at which the square root changes its type.
  for (const double at : {kMinFloat32Square, kMaxFloat32Square}) {
    for (const double value : {std::nextafter(at, 0.0), at, std::nextafter(at, infinity)}) {
      const Quad lower = lower_bound(value);
      const Quad upper = upper_bound(value);
      EXPECT_LT(lower * lower, value);
      EXPECT_GT(upper * upper, value);
    }
  }
}

// Two centroids at almost the same distance on either side of a sample: an excluded centroid must
// be strictly farther by the definition.
TEST(ElkanBounds, ExcludeOnlyWhatCanNeitherWinNorTie) {
  std::mt19937_64 random(2);
  std::uniform_int_distribution<int> steps(-40, 8000);
  int excluded = 0;
  int close = 0;
  for (int round = 0; round < 20000; ++round) {
    const int exponent = static_cast<int>(random() % 900) - 530;
    const std::size_t d = 1 + random() % 20;
    const std::vector<double> x = random_vector(random, d, exponent);
    const std::vector<double> way = random_vector(random, d, exponent - 3);
    std::vector<double> a = x;
    std::vector<double> c = x;
    const double stretch = 1 + std::ldexp(steps(random), -30);
    for (std::size_t j = 0; j < d; ++j) {
      a[j] += way[j];
      c[j] -= stretch * way[j];
    }
    const double near = squared(x, a);
    const double far = squared(x, c);
    if (lower_bound(far) > exclusion_limit(upper_bound(near))) {
      ++excluded;
      EXPECT_GT(far, near);
    } else {
      ++close;
    }
  }
  EXPECT_GT(excluded, 2000);
  EXPECT_GT(close, 2000);
}

// Bounds that are stored once and read after each of many centroid movements.
TEST(ElkanBounds, StoredBoundsHoldWhileCentroidsMove) {
  std::mt19937_64 random(3);
  for (const int exponent : {-130, -20, 0, 20, 100}) {
    for (int start = 0; start < 200; start += 20) {
      const std::vector<double> x = random_vector(random, 5, exponent);
      std::vector<double> c = random_vector(random, 5, exponent);
      double total = 0;
      float lower = 0;
      float upper = 0;
      for (int move = 0; move < 200; ++move) {
        const Drift drift = round_outward(total);
        if (move == start) {
          lower = store_lower(lower_bound(squared(x, c)), drift);
          upper = store_upper(upper_bound(squared(x, c)), drift);
        }
        if (move >= start) {
          const Quad least = std::max(lower_now(lower, drift), 0.0f);
          const Quad most = upper_now(upper, drift);
          EXPECT_LE(least * least, squared_exactly(x, c)) << exponent << " " << move;
          EXPECT_GE(most * most, squared_exactly(x, c)) << exponent << " " << move;
        }
        const std::vector<double> former = c;
        // The centroid moves in a straight line away from or towards the sample, so the bounds have
        // no slack.
        const double factor = (start % 40 == 0 ? 1 : -1) * std::ldexp(1.0, -move / 8 - 2);
        for (std::size_t j = 0; j < c.size(); ++j) c[j] += factor * (c[j] - x[j]);
        total = add_up(total, static_cast<double>(upper_bound(squared(c, former))));
      }
    }
  }
}

// The effect of rounding alone on a bound between storing and reading it.
TEST(ElkanBounds, StoredFormsAreRoundedToTheSafeSide) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 100000; ++round) {
    const double then = std::ldexp(uniform(random), static_cast<int>(random() % 30) - 10);
    const double now = then + std::ldexp(uniform(random), static_cast<int>(random() % 30) - 20);
    const auto bound = static_cast<float>(uniform(random));
    const Quad way = static_cast<Quad>(now) - then;
    const float lower = lower_now(store_lower(bound, round_outward(then)), round_outward(now));
    const float upper = upper_now(store_upper(bound, round_outward(then)), round_outward(now));
    EXPECT_LE(lower, bound - way);
    EXPECT_GE(upper, bound + way);
    EXPECT_LE(lower_across(bound, static_cast<float>(then)),
              static_cast<Quad>(bound) - static_cast<float>(then));
    EXPECT_GE(exclusion_limit(bound), static_cast<Quad>(bound) * (1 + 0x1p-20) + FLT_MIN);
  }
}

TEST(ElkanBounds, TheNearestTwoAreThoseOfTheDefinition) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 500; ++round) {
    constexpr int kGroup = 4;
    std::vector<double> distances(1 + random() % 30);
    for (double& distance : distances) distance = static_cast<double>(random() % 8);  // ties
    // Groups of four, merged in any order.
    std::vector<NearestTwo> groups((distances.size() + kGroup - 1) / kGroup);
    for (std::size_t c = 0; c < distances.size(); ++c) {
      groups[c / kGroup].add_in_group(distances[c], static_cast<int>(c));
    }
    std::shuffle(groups.begin(), groups.end(), random);
    NearestTwo all;
    for (const NearestTwo& group : groups) all.merge(group);

    const auto nearest = std::min_element(distances.begin(), distances.end());
    const auto label = nearest - distances.begin();
    EXPECT_EQ(all.label, label);
    EXPECT_EQ(all.first, *nearest);
    double second = HUGE_VAL;
    double in_group = HUGE_VAL;
    for (std::ptrdiff_t c = 0; c < std::ssize(distances); ++c) {
      const double distance = distances[static_cast<std::size_t>(c)];
      if (c == label) continue;
      second = std::min(second, distance);
      if (c / kGroup == label / kGroup) in_group = std::min(in_group, distance);
    }
    EXPECT_EQ(all.second, second);
    EXPECT_EQ(all.in_group, in_group);
  }
}

}  // namespace
}  // namespace lloyd_cuda_elkan
