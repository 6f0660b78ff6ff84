// ExactSum against correctly rounded sums by an independent method.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/plugin/abi/exact_sum.hpp>

#include "unit/support/shewchuk_sum.hpp"

namespace lloyd {
namespace {

using Limits = std::numeric_limits<double>;

ExactSum exact_sum(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum;
}

double shewchuk_sum(const std::vector<double>& values) {
  ShewchukSum sum;
  for (const double value : values) sum.add(value);
  return sum.value();
}

// Values of random sign and mantissa with exponents in [lowest, highest].
std::vector<double> random_values(std::size_t count, int lowest, int highest, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const double mantissa = static_cast<double>(bits >> 11) * 0x1p-53;
    const int exponent =
        lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest + 1));
    values.push_back(std::ldexp((bits & 1) != 0 ? -mantissa : mantissa, exponent));
  }
  return values;
}

TEST(ExactSum, IsZeroWhenNothingWasAdded) {
  EXPECT_EQ(ExactSum().value(), 0.0);
  EXPECT_FALSE(std::signbit(ExactSum().value()));
}

TEST(ExactSum, ReturnsASingleValue) {
  for (const double value :
       {1.0, -1.0, 0.1, -0.0, Limits::max(), Limits::lowest(), Limits::min(), -Limits::min(),
        Limits::denorm_min(), -Limits::denorm_min(), 0x1.fffffffffffffp-1022, 0x1p53, 0x1p-1043}) {
    EXPECT_EQ(exact_sum({value}).value(), value);
  }
}

TEST(ExactSum, RoundsOnceToNearestTiesToEven) {
  EXPECT_EQ(exact_sum({1.0, 0x1p-53}).value(), 1.0);
  EXPECT_EQ(exact_sum({1.0, 0x1p-53, 0x1p-1074}).value(), 1.0 + 0x1p-52);
  EXPECT_EQ(exact_sum({1.0, 0x1p-53, -0x1p-1074}).value(), 1.0);
  EXPECT_EQ(exact_sum({1.0 + 0x1p-52, 0x1p-53}).value(), 1.0 + 0x1p-51);
  EXPECT_EQ(exact_sum({-1.0, -0x1p-53, -0x1p-1074}).value(), -1.0 - 0x1p-52);
  EXPECT_EQ(exact_sum({0x1.fffffffffffffp0, 0x1p-53}).value(), 2.0);  // carries up to the top
}

TEST(ExactSum, SurvivesCancellation) {
  EXPECT_EQ(exact_sum({1e308, 1.0, -1e308}).value(), 1.0);
  EXPECT_EQ(exact_sum({1e100, 1.0, 1e-100, -1e100, -1.0}).value(), 1e-100);
  EXPECT_EQ(exact_sum({Limits::max(), Limits::denorm_min(), Limits::lowest()}).value(),
            Limits::denorm_min());
  EXPECT_EQ(exact_sum({0.1, -0.1}).value(), 0.0);
}

TEST(ExactSum, LeavesTheRangeOnlyWhereTheSumDoes) {
  EXPECT_EQ(exact_sum({Limits::max(), Limits::max(), Limits::lowest()}).value(), Limits::max());
  EXPECT_EQ(exact_sum({Limits::max(), Limits::max()}).value(), Limits::infinity());
  EXPECT_EQ(exact_sum({Limits::lowest(), Limits::lowest()}).value(), -Limits::infinity());
}

struct Range {
  int lowest;
  int highest;
};

class ExactSumOfRange : public ::testing::TestWithParam<Range> {};

TEST_P(ExactSumOfRange, AgreesWithTheOracleBitForBit) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::vector<double> values =
        random_values(1 + seed % 97, GetParam().lowest, GetParam().highest, seed);
    EXPECT_EQ(exact_sum(values).value(), shewchuk_sum(values)) << "seed " << seed;
  }
}

TEST_P(ExactSumOfRange, DoesNotDependOnOrder) {
  std::vector<double> values = random_values(500, GetParam().lowest, GetParam().highest, 1);
  const double expected = exact_sum(values).value();
  std::mt19937_64 random(2);
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::shuffle(values.begin(), values.end(), random);
    EXPECT_EQ(exact_sum(values).value(), expected);
  }
}

TEST_P(ExactSumOfRange, DoesNotDependOnHowItIsMerged) {
  const std::vector<double> values = random_values(600, GetParam().lowest, GetParam().highest, 3);
  const double expected = exact_sum(values).value();
  for (const std::size_t parts : {1u, 2u, 3u, 7u, 600u}) {
    std::vector<ExactSum> sums(parts);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i % parts].add(values[i]);
    ExactSum forward, backward;
    for (const ExactSum& sum : sums) forward.add(sum);
    for (auto sum = sums.rbegin(); sum != sums.rend(); ++sum) backward.add(*sum);
    EXPECT_EQ(forward.value(), expected);
    EXPECT_EQ(backward.value(), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranges, ExactSumOfRange,
                         ::testing::Values(Range{0, 0}, Range{-3, 3}, Range{-60, 60},
                                           Range{-1074, -1010}, Range{-1074, 1000},
                                           Range{900, 1000}));

TEST(ExactSum, AddsIntoItself) {
  ExactSum sum = exact_sum({0.1, 0.7, -3.5});
  const double expected = shewchuk_sum({0.1, 0.7, -3.5, 0.1, 0.7, -3.5});
  sum.add(sum);
  EXPECT_EQ(sum.value(), expected);
}

// Setting the count of additions triggers the carry early, which otherwise needs long sums.
TEST(ExactSum, CarriesBeforeAChunkOverflows) {
  ExactSum sum;
  std::vector<double> values;
  const double value = 0x1.fffffffffffffp40;
  for (int i = 0; i < 100; ++i) {
    sum.adds_since_carry = ExactSum::kAddsBeforeCarry - 1;
    sum.add(i % 3 == 0 ? -value : value);
    EXPECT_EQ(sum.adds_since_carry, 0);
    values.push_back(i % 3 == 0 ? -value : value);
  }
  EXPECT_EQ(sum.value(), shewchuk_sum(values));
  // The largest summands, in the maximum number between two carries, stay within a chunk.
  const double largest_chunk = 0x1p32 * static_cast<double>(ExactSum::kAddsBeforeCarry + 1);
  EXPECT_LT(largest_chunk, 0x1p63);
}

TEST(ExactSum, DoesNotStall) {
  ExactSum sum;
  for (int i = 0; i < 20; ++i) sum.add(sum);  // zero doubled
  sum.add(0.1);
  for (int i = 0; i < 40; ++i) sum.add(sum);  // 2^40 times 0.1
  sum.add(0x1p-60);
  EXPECT_EQ(sum.value(), 0.1 * 0x1p40);
  ExactSum minus;
  minus.add(-0.1 * 0x1p40);
  sum.add(minus);
  EXPECT_EQ(sum.value(), 0x1p-60);
}

}  // namespace
}  // namespace lloyd
