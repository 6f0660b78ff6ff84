// Change points of series with known levels.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/random.hpp>

#include "experiment/statistics/change_points.hpp"

namespace lloyd::experiment {
namespace {

using Indices = std::vector<std::size_t>;

// Each level times a uniform factor of 1 to 1 + noise.
std::vector<double> series(const std::vector<double>& levels, double noise, std::uint64_t seed) {
  const RandomStream random(seed, 7);
  std::vector<double> values;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    values.push_back(levels[i] * (1 + noise * random.uniform(i)));
  }
  return values;
}

std::vector<double> levels(std::initializer_list<std::pair<int, double>> parts) {
  std::vector<double> values;
  for (const auto& [count, level] : parts) {
    values.insert(values.end(), static_cast<std::size_t>(count), level);
  }
  return values;
}

TEST(ChangePoints, AreFoundWhereLevelsBegin) {
  EXPECT_EQ(change_points(series(levels({{12, 10}, {12, 11}}), 0.02, 1)), Indices{12});
  EXPECT_EQ(change_points(series(levels({{15, 10}, {3, 12}}), 0.02, 2)), Indices{15});
  EXPECT_EQ(change_points(series(levels({{12, 10}, {12, 8}, {12, 10}}), 0.02, 3)),
            (Indices{12, 24}));
}

TEST(ChangePoints, AreRareInNoise) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    found += !change_points(series(levels({{20, 10}}), 0.5, seed)).empty();
  }
  // 1 % of 200 on average; the series and so the count are the same on every machine.
  EXPECT_LE(found, 8);
}

TEST(ChangePoints, NeedEnoughRunsAndALargeChange) {
  EXPECT_EQ(change_points(levels({{5, 10}, {4, 20}})), Indices{});
  EXPECT_EQ(change_points(levels({{5, 10}, {5, 20}})), Indices{5});
  EXPECT_EQ(change_points(levels({{20, 10}, {20, 10.2}})), Indices{});
  EXPECT_EQ(change_points(levels({{40, 10}})), Indices{});
  EXPECT_EQ(change_points({}), Indices{});
}

}  // namespace
}  // namespace lloyd::experiment
