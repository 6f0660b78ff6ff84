#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/random.hpp>

namespace lloyd {
namespace {

using Words4 = std::array<std::uint32_t, 4>;

// The known-answer vectors published with Random123.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, GivesTheBitsCheckedIn) {
  struct Golden {
    std::uint64_t index, bits, normal;
  };
  const RandomStream stream(42, 7);
  for (const Golden& golden : std::vector<Golden>{
           {0, 0xe55410cc67ee6f2c, 0x3ff420fdd4ad2614},
           {1, 0x600f6196e5dde940, 0xbfd45a7298f28dbf},
           {2, 0xf000aacd24ecfc6e, 0x3ff88c18ca413acf},
           {48450, 0xffffe85b3df4efb2, 0x4012bc06a7af336e},  // in the far tail
           {1000000007, 0x65241b2b31bbddac, 0xbfd107bc70b4f6ff},
           {std::numeric_limits<std::uint64_t>::max(), 0xd5e23e1588aef304, 0x3fef3be8f9fa6c96},
       }) {
    EXPECT_EQ(stream.bits(golden.index), golden.bits) << "index " << golden.index;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(stream.normal(golden.index)), golden.normal)
        << "index " << golden.index;
  }
}

TEST(RandomStream, DiffersBySeedStreamAndIndexInAllTheirBits) {
  const std::uint64_t base = RandomStream(1, 1).bits(1);
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t other = 1 ^ (std::uint64_t{1} << bit);
    EXPECT_NE(RandomStream(other, 1).bits(1), base);
    EXPECT_NE(RandomStream(1, other).bits(1), base);
    EXPECT_NE(RandomStream(1, 1).bits(other), base);
  }
}

TEST(RandomStream, UniformIsOpenAtBothEnds) {
  const RandomStream stream(3, 0);
  double sum = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double value = stream.uniform(i);
    ASSERT_GT(value, 0.0);
    ASSERT_LT(value, 1.0);
    // With 53 bits, adding half a step would round to 1 at the upper end.
    EXPECT_EQ(value, static_cast<double>(stream.bits(i) >> 12) * 0x1p-52 + 0x1p-53);
    sum += value;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 5 * std::sqrt(1.0 / 12 / kCount));
}

TEST(RandomStream, BelowIsUniform) {
  const RandomStream stream(5, 0);
  constexpr int kBound = 7;
  constexpr int kCount = 70000;
  std::vector<int> counts(kBound);
  for (int i = 0; i < kCount; ++i) {
    const std::uint64_t value = stream.below(kBound, i);
    ASSERT_LT(value, std::uint64_t{kBound});
    ++counts[value];
  }
  double chi_squared = 0;
  for (const int count : counts) chi_squared += std::pow(count - kCount / kBound, 2);
  chi_squared /= static_cast<double>(kCount) / kBound;
  EXPECT_LT(chi_squared, 22.5);  // 6 degrees of freedom: exceeded with a probability of 0.001
  EXPECT_EQ(stream.below(1, 0), 0u);
  const auto largest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_LT(stream.below(largest, 0), largest);
  EXPECT_GT(stream.below(largest, 0), 0u);
}

TEST(RandomStream, NormalHasTheMomentsOfTheNormalDistribution) {
  const RandomStream stream(11, 2);
  constexpr int kCount = 200000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = stream.normal(i);
    sum += value;
    squares += value * value;
    fourth += value * value * value * value;
  }
  EXPECT_NEAR(sum / kCount, 0, 5 / std::sqrt(kCount));
  EXPECT_NEAR(squares / kCount, 1, 5 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(fourth / kCount, 3, 5 * std::sqrt(96.0 / kCount));
}

// Expected values to 20 digits, computed with 40.
TEST(InverseNormal, IsAccurateInItsThreeRanges) {
  struct Known {
    double p, z;
  };
  for (const Known& known : std::vector<Known>{
           {1e-300, -37.047096299361199237},
           {1e-20, -9.2623400897984075796},
           {1e-10, -6.3613409024040561991},
           {0.001, -3.0902323061678135354},
           {0.0749, -1.4402382675279636631},
           {0.0751, -1.4388253927525399824},
           {0.25, -0.6744897501960817432},
           {0.49, -0.025068908258711058033},
           {0.9, 1.2815515655446005935},
           {0.999999, 4.7534243088170877657},
       }) {
    EXPECT_NEAR(inverse_normal(known.p), known.z, 1e-15 * std::fabs(known.z)) << known.p;
  }
  EXPECT_EQ(inverse_normal(0.5), 0.0);
}

TEST(InverseNormal, GivesTheBitsCheckedIn) {
  const auto bits = [](double p) { return std::bit_cast<std::uint64_t>(inverse_normal(p)); };
  EXPECT_EQ(bits(1e-300), 0xc04286074064c26e);
  EXPECT_EQ(bits(1e-20), 0xc022865170b43a4b);
  EXPECT_EQ(bits(1e-10), 0xc0197203597a2154);
  EXPECT_EQ(bits(0.001), 0xc008b8cbb7204470);
  EXPECT_EQ(bits(0.0749), 0xbff70b374817af50);
  EXPECT_EQ(bits(0.25), 0xbfe5956b87528a49);
  EXPECT_EQ(bits(0.9), 0x3ff4813c36e26d33);
}

TEST(InverseNormal, IsOddAboutOneHalf) {
  for (const double p : {0x1p-53, 0x1p-40, 0x1p-10, 0.125, 0.375}) {
    EXPECT_EQ(inverse_normal(1 - p), -inverse_normal(p)) << p;
    EXPECT_TRUE(std::isfinite(inverse_normal(p)));
  }
}

}  // namespace
}  // namespace lloyd
