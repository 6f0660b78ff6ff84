// PassMessage: what ranks add up, and the packing of high limbs in pairs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "distributed/pass_message.hpp"
#include "unit/support/run_ranks.hpp"

namespace lloyd {
namespace {

using Values = std::vector<std::int64_t>;

Values sum_of_packed(const std::vector<Values>& ranks) {
  Values sum(ranks[0].size());
  std::size_t packed = 0;
  for (Values values : ranks) {
    packed = pack_pairs(values);
    for (std::size_t i = 0; i < packed; ++i) sum[i] += values[i];
  }
  std::fill(sum.begin() + static_cast<std::ptrdiff_t>(packed), sum.end(), 99);  // not transferred
  unpack_pairs(sum);
  return sum;
}

TEST(PackedPairs, AddUpToTheSumsOfTheValues) {
  std::mt19937_64 random(11);
  for (const std::size_t size : {0, 1, 2, 3, 4, 7, 100, 101}) {
    for (const std::int64_t largest : {std::int64_t{3}, std::int64_t{1} << 29}) {
      std::uniform_int_distribution<std::int64_t> value(-largest, largest);
      std::vector<Values> ranks(3, Values(size));
      Values expected(size);
      for (Values& values : ranks) {
        for (std::size_t i = 0; i < size; ++i) expected[i] += values[i] = value(random);
      }
      EXPECT_EQ(sum_of_packed(ranks), expected) << size << " values up to " << largest;
    }
  }
}

TEST(PackedPairs, HoldTheLimitsOf32Bits) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  for (const std::int64_t a : {kMin, kMax, std::int64_t{-1}, std::int64_t{0}}) {
    for (const std::int64_t b : {kMin, kMax, std::int64_t{-1}, std::int64_t{0}}) {
      EXPECT_EQ(sum_of_packed({{a, b}}), (Values{a, b}));
    }
  }
}

// Values of `bits` bits of n samples.
bool has_short_high_limbs(int bits, std::int64_t n, int ranks) {
  SumPlan plan;
  plan.form = SumForm::integer128;
  plan.value_bits = {3, bits};
  return has_short_high_limbs(plan, n, message_limbs(plan, n, ranks));
}

TEST(PackedPairs, AreUsedIfTheHighLimbsOfAllRanksFitInto32Bits) {
  constexpr std::int64_t kSamples = (1 << 20) - 1;
  // The change of a sum has 22 bits more than a value; of two limbs, the lower one has 61 bits.
  EXPECT_TRUE(has_short_high_limbs(61 - 22 + 1, kSamples, 2));
  EXPECT_TRUE(has_short_high_limbs(61 - 22 + 30, kSamples, 2));
  EXPECT_FALSE(has_short_high_limbs(61 - 22 + 31, kSamples, 2));
  EXPECT_FALSE(has_short_high_limbs(61 - 22, kSamples, 2)) << "one limb suffices";
  EXPECT_FALSE(has_short_high_limbs(105, kSamples, 2)) << "three limbs";
}

// The bound of has_short_high_limbs(), at its edge: all ranks have the largest change of either
// sign.
TEST(PackedPairs, HoldTheHighLimbsOfTheLargestChanges) {
  constexpr int kRanks = 7;
  constexpr std::int64_t kSamples = (1 << 20) - 1;
  SumPlan plan;
  plan.form = SumForm::integer128;
  plan.value_bits = {59 - 22 + 30};
  const SumLimbs limbs = message_limbs(plan, kSamples, kRanks);
  ASSERT_EQ(limbs.bits, 59);
  ASSERT_TRUE(has_short_high_limbs(plan, kSamples, limbs));
  const Int128 largest = static_cast<Int128>(1) << (change_bits(plan, kSamples) - 1);
  std::vector<Values> ranks;
  Values expected(4);
  for (int rank = 0; rank < kRanks; ++rank) {
    Values high;
    const Int128 part = largest / kRanks;
    for (const Int128 change : {part, -part - 1, -part, part}) {
      Values sums(2);
      add_limbs(change, limbs, sums.data(), 1);
      expected[high.size()] += sums[1];
      high.push_back(sums[1]);
    }
    ranks.push_back(high);
  }
  EXPECT_EQ(sum_of_packed(ranks), expected);
}

// Counts, inertia and sums of 3 clusters of 5 features, of one rank.
void fill(PassMessage& message, const SumLimbs& limbs, int rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank));
  message[PassMessage::changed] = rank + 1;
  for (int c = 0; c < 3; ++c) message.counts()[c] = 10 * rank + c;
  ExactSum inertia;
  inertia.add(0.1 * (rank + 1));
  message.set_inertia(inertia);
  for (std::size_t i = 0; i < 15; ++i) {
    const Int128 digits = static_cast<Int128>(random()) << 64 | random();
    add_limbs(digits >> (128 - 85), limbs, message.sums() + i, 15);
  }
}

TEST(PassMessage, IsTheSameWithPackedHighLimbs) {
  run_ranks(3, [](const std::shared_ptr<Communicator>& communicator) {
    const Ranks ranks(communicator);
    const SumLimbs limbs{2, 60};
    PassMessage packed(3, 30, true, true);
    PassMessage whole(3, 30, true);
    for (PassMessage* message : {&packed, &whole}) {
      fill(*message, limbs, ranks.rank());
      message->check_high_limbs();
      message->add_up(ranks, {}, false);
    }
    EXPECT_EQ(packed[PassMessage::changed], 6);
    EXPECT_EQ(Values(packed.counts(), packed.counts() + 3),
              Values(whole.counts(), whole.counts() + 3));
    EXPECT_EQ(packed.inertia().value(), whole.inertia().value());
    EXPECT_EQ(Values(packed.sums(), packed.sums() + 30), Values(whole.sums(), whole.sums() + 30));
  });
}

TEST(PassMessage, NamesTheSumOfAHighLimbThatCannotBePacked) {
  constexpr std::int64_t kBound = std::int64_t{1} << 30;
  for (const std::int64_t limb : {kBound, -kBound - 1, std::int64_t{1} << 40}) {
    PassMessage message(3, 30, false, true);
    message.sums()[15] = kBound - 1;
    message.sums()[16] = -kBound;
    message.check_high_limbs();
    message.sums()[15 + 7] = limb;
    try {
      message.check_high_limbs();
      ADD_FAILURE() << limb;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status().message,
                std::string(
                    "a pass changed the sum of cluster 1, feature 2 by more than its samples can"));
    }
  }
}

}  // namespace
}  // namespace lloyd
