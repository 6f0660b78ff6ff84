// Stored integer tiles of the openmp plugin while centroids move.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "openmp/common/instruction_set.hpp"
#include "openmp/screens/integer_rounding.hpp"
#include "openmp/screens/integer_tiles.hpp"

namespace lloyd_openmp {
namespace {

constexpr std::int64_t kFeatures = 3;

// Sample i of a tile is (i, 0, -i) times `scale`.
std::vector<TileVector<float>> tile_of(float scale) {
  std::vector<TileVector<float>> tile(kFeatures);
  for (std::int64_t lane = 0; lane < kTile; ++lane) {
    tile[0].lanes[lane] = scale * static_cast<float>(lane);
    tile[1].lanes[lane] = 0;
    tile[2].lanes[lane] = -scale * static_cast<float>(lane);
  }
  return tile;
}

class OpenmpIntegerTiles : public testing::Test {
 protected:
  OpenmpIntegerTiles() { tiles_.reserve(2 * kTile - 5, kFeatures); }

  IntegerTile get(std::int64_t t, double radius) {
    return tiles_.get(t, radius, [&](double room, IntegerTile& tile) {
      ++roundings_;
      const std::vector<TileVector<float>> samples = tile_of(t == 0 ? 1.0f : 0.5f);
      round_tile(InstructionSet(0), samples.data(), kFeatures, room, tile);
    });
  }

  // Expects the tile of the samples, with a unit fine enough for centroids within `radius`.
  void check(std::int64_t t, double radius) {
    const IntegerTile found = get(t, radius);
    const std::vector<TileVector<float>> expected = tile_of(t == 0 ? 1.0f : 0.5f);
    const double greatest = std::sqrt(2.0) * expected[0].lanes[kTile - 1];
    EXPECT_GE(found.radius, greatest);
    // round_tile() does not use the largest component.
    const double needed = IntegerScreen::radius_of(greatest, greatest);
    const double holds = double{found.unit} * IntegerScreen::kMaxUnits;
    EXPECT_GE(holds, radius);
    EXPECT_LE(holds, 1.3 * std::max(radius, needed));
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      const double x = expected[0].lanes[lane];
      const std::int32_t* const first =
          pairs_of_lane(found.pairs, 2, static_cast<std::size_t>(lane));
      const auto low = static_cast<std::int16_t>(*first & 0xffff);
      const auto third = static_cast<std::int16_t>(first[kPairLanes] & 0xffff);
      EXPECT_NEAR(low * double{found.unit}, x, 0.51 * double{found.unit});
      EXPECT_NEAR(third * double{found.unit}, -x, 0.51 * double{found.unit});
      EXPECT_EQ(*first >> 16, 0);
      EXPECT_NEAR(found.norms->lanes[lane], std::sqrt(2.0) * x, 1e-5 * x);
      EXPECT_LE(found.residuals->lanes[lane], 0.72 * double{found.unit});
    }
  }

  IntegerTiles tiles_;
  int roundings_ = 0;
};

TEST_F(OpenmpIntegerTiles, AreRoundedOnceWhileCentroidsStayAmongSamples) {
  for (const double radius : {50.0, 20.0, 80.0, 1.0}) {
    check(0, radius);
    EXPECT_EQ(roundings_, 1);
  }
  check(1, 20);
  EXPECT_EQ(roundings_, 2);
  check(0, 30);
  EXPECT_EQ(roundings_, 2);
}

TEST_F(OpenmpIntegerTiles, AreRoundedAgainWhereCentroidsGoFarOutOrComeBack) {
  check(0, 50);
  check(0, 1000);
  EXPECT_EQ(roundings_, 2);
  check(0, 1030);  // within the reserve for growth
  check(0, 900);
  EXPECT_EQ(roundings_, 2);
  check(0, 2000);
  EXPECT_EQ(roundings_, 3);
  check(0, 100);
  EXPECT_EQ(roundings_, 4);
  check(0, 10);
  EXPECT_EQ(roundings_, 4);
}

TEST(OpenmpIntegerTilesOfLargeData, AreNotKept) {
  EXPECT_GT(IntegerTiles::bytes(1000000, 256, 16), 1000000 * (2 * 16 + 8));
  EXPECT_EQ(IntegerTiles::bytes(1000000, 256, 1600), 0);
  EXPECT_EQ(IntegerTiles::bytes(1000000, 1000, 16), 0);
}

}  // namespace
}  // namespace lloyd_openmp
