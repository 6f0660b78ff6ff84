// Rounding of samples to integers in the openmp plugin, from rows and from tiles.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "openmp/common/instruction_set.hpp"
#include "openmp/common/tile.hpp"
#include "openmp/screens/integer_rounding.hpp"
#include "openmp/screens/integer_screen.hpp"
#include "unit/openmp/openmp_instruction_sets.hpp"

namespace lloyd_openmp {
namespace {

// A tile of integers whose memory is not zero beforehand.
struct Rounded {
  explicit Rounded(std::int64_t d) : pairs(pair_lines(d)) {
    for (PairLine& line : pairs) std::fill(std::begin(line.lanes), std::end(line.lanes), -1);
    tile = {pairs.data(), &norms, &residuals, 0, 0};
  }

  std::int32_t value(std::int64_t j, std::int64_t lane, std::int64_t d) const {
    const std::int32_t* const first = pairs_of_lane(
        pairs.data(), static_cast<std::size_t>((d + 1) / 2), static_cast<std::size_t>(lane));
    const std::int32_t pair = first[static_cast<std::size_t>(j / 2) * kPairLanes];
    return j % 2 == 0 ? static_cast<std::int16_t>(pair & 0xffff) : pair >> 16;
  }

  std::vector<PairLine> pairs;
  TileVector<float> norms, residuals;
  IntegerTile tile;
};

// kTile samples of d features around an origin, with a gap between rows.
class Samples {
 public:
  explicit Samples(std::int64_t d) : d_(d) {
    std::mt19937_64 random(3);
    std::normal_distribution<float> normal;
    const std::int64_t stride = d_ + kGap;
    values_.resize(static_cast<std::size_t>((kTile - 1) * stride + d_), 1e30f);
    for (std::int64_t j = 0; j < d_; ++j) origin_.push_back(100 * normal(random));
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      for (std::int64_t j = 0; j < d_; ++j) {
        values_[static_cast<std::size_t>(lane * stride + j)] =
            origin_[static_cast<std::size_t>(j)] + normal(random) * (lane == 7 ? 50.0f : 1.0f);
      }
      samples_.push_back(values_.data() + lane * stride);
    }
    // A sample at the origin.
    std::copy(origin_.begin(), origin_.end(), values_.begin() + 5 * stride);
    // The sample with the largest norm, concentrated in one component.
    std::copy(origin_.begin(), origin_.end(), values_.begin() + 9 * stride);
    values_[static_cast<std::size_t>(9 * stride + d_ / 2)] +=
        -100 * std::sqrt(static_cast<float>(d_));
  }

  void check_tile(InstructionSet set, double radius) const {
    Rounded rounded(d_);
    std::vector<TileVector<float>> tile(static_cast<std::size_t>(d_));
    load_tile(set, samples_[0], d_ + kGap, kTile, d_, origin_.data(), tile.data());
    round_tile(set, tile.data(), d_, radius, rounded.tile);
    check(rounded, radius);
  }

  void check_rows(InstructionSet set, double radius) const {
    Rounded rounded(d_);
    round_rows(set, samples_.data(), d_, origin_.data(), radius, rounded.tile);
    check(rounded, radius);
  }

 private:
  static constexpr std::int64_t kGap = 3;

  double value(std::int64_t j, std::int64_t lane) const {
    return samples_[static_cast<std::size_t>(lane)][j] - origin_[static_cast<std::size_t>(j)];
  }

  // Expects the nearest integers, and matching norms and residuals.
  void check(const Rounded& rounded, double radius) const {
    const double unit = rounded.tile.unit;
    double greatest = 0, greatest_value = 0;
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      double norm = 0, residual = 0;
      for (std::int64_t j = 0; j < d_; ++j) {
        const std::int32_t q = rounded.value(j, lane, d_);
        ASSERT_NEAR(q * unit, value(j, lane), 0.501 * unit) << j << ' ' << lane;
        norm += value(j, lane) * value(j, lane);
        greatest_value = std::max(greatest_value, std::abs(value(j, lane)));
        residual += (value(j, lane) - q * unit) * (value(j, lane) - q * unit);
      }
      if (d_ % 2 != 0) {
        EXPECT_EQ(rounded.value(d_, lane, d_), 0);
      }
      greatest = std::max(greatest, std::sqrt(norm));
      EXPECT_NEAR(rounded.norms.lanes[lane], std::sqrt(norm), 1e-5 * std::sqrt(norm));
      const double off = 5e-4 * std::sqrt(residual) + 0x4p-24 * std::sqrt(norm);
      EXPECT_NEAR(rounded.residuals.lanes[lane], std::sqrt(residual), off);
    }
    const double needed = IntegerScreen::radius_of(greatest, greatest_value);
    EXPECT_GE(rounded.tile.radius, needed);
    EXPECT_LE(rounded.tile.radius, 1.01 * needed);
    const double most = unit * IntegerScreen::kMaxUnits;
    EXPECT_NEAR(most, std::max<double>(radius, rounded.tile.radius), 1e-5 * most);
  }

  std::int64_t d_;
  std::vector<float> values_, origin_;
  std::vector<const float*> samples_;
};

TEST(OpenmpIntegerRounding, IsToTheNextIntegers) {
  for (const std::int64_t d : {1, 3, 16, 17, 31, 32, 33, 49, 63, 64, 100, 257}) {
    const Samples samples(d);
    for (const InstructionSet set : instruction_sets()) {
      for (const double radius : {1e-3, 1e4}) {
        SCOPED_TRACE(d);
        samples.check_tile(set, radius);
        if (can_round_rows(set, d)) samples.check_rows(set, radius);
      }
    }
  }
}

}  // namespace
}  // namespace lloyd_openmp
