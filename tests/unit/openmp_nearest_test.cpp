// What the openmp plugin proves by screening, and what it decides by the definition.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/dataset.hpp>
#include <lloyd/plugin/distance.hpp>

#include "openmp/nearest.hpp"
#include "openmp/score_screen.hpp"

namespace lloyd_openmp {
namespace {

// n x d samples and k x d centroids.
template <class T>
struct Case {
  std::int64_t d, k;
  std::vector<T> samples;
  std::vector<double> centroids;

  std::int64_t n() const { return std::ssize(samples) / d; }
  std::int32_t defined(std::int64_t i) const {
    return lloyd::nearest_centroid(samples.data() + i * d, centroids.data(), k, d).label;
  }
};

// Screens all samples; how many labels are proven. Expects those to be the definition's.
template <class T>
std::int64_t check_screen(const Case<T>& given) {
  const lloyd::Dataset data("samples", lloyd::Matrix::own(given.samples, given.n(), given.d));
  ScoreScreen<T> screen(data.view());
  screen.set_centroids(given.centroids.data(), given.k);
  if (!screen.fits()) return -1;
  std::vector<TileRow<T>> tile(static_cast<std::size_t>(given.d));
  const std::vector<std::int32_t> former(kTile, 0);
  std::int64_t proven = 0;
  for (std::int64_t begin = 0; begin < given.n(); begin += kTile) {
    const std::int64_t rows = std::min(kTile, given.n() - begin);
    load_tile(given.samples.data() + begin * given.d, given.d, rows, given.d, screen.origin(),
              tile.data());
    TileLabels nearest;
    screen_nearest(tile.data(), given.d, screen.centroids(), former.data(), nearest);
    for (std::int64_t lane = 0; lane < rows; ++lane) {
      EXPECT_EQ((nearest.changed >> lane & 1) != 0, nearest.labels[lane] != 0);
      if ((nearest.undecided >> lane & 1) != 0) continue;
      ++proven;
      EXPECT_EQ(nearest.labels[lane], given.defined(begin + lane)) << "sample " << begin + lane;
    }
  }
  return proven;
}

template <class T>
Case<T> blobs(std::int64_t n, std::int64_t d, std::int64_t k, double scale, double offset) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  Case<T> made{d, k, {}, {}};
  for (std::int64_t i = 0; i < k * d; ++i)
    made.centroids.push_back(offset + 3 * scale * normal(random));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < d; ++j) {
      const double centre = made.centroids[static_cast<std::size_t>(i % k * d + j)];
      made.samples.push_back(static_cast<T>(centre + scale * normal(random)));
    }
  }
  return made;
}

// Samples on the plane half way between two centroids, and a few units in the last place off it.
template <class T>
Case<T> near_ties(std::int64_t d, double offset) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  Case<T> made{d, 6, {}, {}};
  for (std::int64_t i = 0; i < made.k * d; ++i) made.centroids.push_back(offset + normal(random));
  // Two that are the same: the lower one it is.
  std::copy_n(made.centroids.begin(), d, made.centroids.begin() + 5 * d);
  for (int i = 0; i < 2000; ++i) {
    const double* a = made.centroids.data() + static_cast<std::int64_t>(random() % 6) * d;
    const double* b = made.centroids.data() + static_cast<std::int64_t>(random() % 6) * d;
    for (std::int64_t j = 0; j < d; ++j) {
      T value = static_cast<T>((a[j] + b[j]) / 2);
      for (auto steps = random() % 4; steps > 0; --steps) {
        value = std::nextafter(value, random() % 2 != 0 ? T(1e9) : T(-1e9));
      }
      made.samples.push_back(value);
    }
  }
  return made;
}

template <class T>
class OpenmpNearest : public testing::Test {};
using Types = testing::Types<float, double>;
class TypeNames {
 public:
  template <class T>
  static std::string GetName(int) {
    return sizeof(T) == sizeof(float) ? "float32" : "float64";
  }
};
TYPED_TEST_SUITE(OpenmpNearest, Types, TypeNames);

TYPED_TEST(OpenmpNearest, TilesAreTheSamplesLessTheOrigin) {
  std::mt19937 random(3);
  for (std::int64_t d = 1; d <= 21; ++d) {
    for (const std::int64_t stride : {d, d + 3}) {
      std::vector<TypeParam> samples;
      for (std::int64_t i = 0; i < kTile * stride; ++i) {
        samples.push_back(static_cast<TypeParam>(random() % 1000));
      }
      std::vector<TypeParam> origin;
      for (std::int64_t j = 0; j < d; ++j) origin.push_back(static_cast<TypeParam>(j));
      for (const std::int64_t rows : {kTile, std::int64_t{5}}) {
        std::vector<TileRow<TypeParam>> tile(static_cast<std::size_t>(d));
        // Nothing behind the last value is read.
        const std::vector<TypeParam> exactly(samples.begin(),
                                             samples.begin() + (rows - 1) * stride + d);
        load_tile(exactly.data(), stride, rows, d, origin.data(), tile.data());
        for (std::int64_t lane = 0; lane < rows; ++lane) {
          for (std::int64_t j = 0; j < d; ++j) {
            ASSERT_EQ(tile[static_cast<std::size_t>(j)].lanes[lane],
                      exactly[static_cast<std::size_t>(lane * stride + j)] -
                          origin[static_cast<std::size_t>(j)])
                << "d " << d << ", stride " << stride << ", lane " << lane << ", feature " << j;
          }
        }
      }
    }
  }
}

TYPED_TEST(OpenmpNearest, WhatIsProvenIsDefinedSo) {
  for (const std::int64_t d : {1, 2, 3, 4, 5, 16, 33, 128}) {
    for (const std::int64_t k : {1, 2, 5, 33}) {
      for (const double scale : {1.0, 1e-12, 1e12}) {
        EXPECT_GE(check_screen(blobs<TypeParam>(300, d, k, scale, 0)), 290) << d << ' ' << k;
      }
      check_screen(blobs<TypeParam>(300, d, k, 1, 1e6));
      check_screen(blobs<TypeParam>(300, d, k, 1e-19, 0));  // squares near the least numbers
    }
  }
}

TYPED_TEST(OpenmpNearest, TiesAreNotProven) {
  for (const std::int64_t d : {1, 2, 3, 8, 40}) {
    for (const double offset : {0.0, 100.0, 1e6}) {
      const Case<TypeParam> ties = near_ties<TypeParam>(d, offset);
      EXPECT_LT(check_screen(ties), ties.n()) << d << ' ' << offset;
    }
  }
}

// In float64 the core refuses such data.
TEST(OpenmpScreen, LeavesOutWhatCouldOverflow) {
  EXPECT_EQ(check_screen(blobs<float>(100, 3, 4, 1e19, 0)), -1);
  EXPECT_GE(check_screen(blobs<float>(100, 3, 4, 1e16, 0)), 90);
}

TEST(OpenmpDefinition, IsTheDefinition) {
  for (const std::int64_t d : {1, 3, 17}) {
    const Case<double> ties = near_ties<double>(d, 1);
    std::vector<TileRow<double>> tile(static_cast<std::size_t>(d));
    const std::vector<double> origin(static_cast<std::size_t>(d));
    for (std::int64_t begin = 0; begin + kTile <= ties.n(); begin += kTile) {
      load_tile(ties.samples.data() + begin * d, d, kTile, d, origin.data(), tile.data());
      alignas(64) std::int32_t labels[kTile];
      define_nearest(tile.data(), d, ties.centroids.data(), ties.k, labels);
      for (std::int64_t lane = 0; lane < kTile; ++lane) {
        ASSERT_EQ(labels[lane], ties.defined(begin + lane));
      }
    }
  }
}

}  // namespace
}  // namespace lloyd_openmp
