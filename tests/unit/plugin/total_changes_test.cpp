// TotalChanges: differences between the totals of passes, as limbs.
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/plugin/sdk/total_changes.hpp>

namespace lloyd {
namespace {

class TotalChangesOfPasses : public ::testing::Test {
 protected:
  static constexpr std::int64_t kClusters = 4;
  static constexpr std::int64_t kFeatures = 3;
  static constexpr std::size_t kCells = kClusters * kFeatures;

  TotalChangesOfPasses() {
    plan_.form = SumForm::integer128;
    plan_.features = kFeatures;
  }

  static std::vector<SumWords> words_of(const std::vector<Int128>& totals) {
    std::vector<SumWords> words;
    for (const Int128 total : totals) {
      words.push_back({static_cast<std::uint64_t>(total), static_cast<std::uint64_t>(total >> 64)});
    }
    return words;
  }

  // Totals of up to `bits` bits of either sign, in three passes.
  void expect_limbs(const SumLimbs& limbs, int bits) const {
    std::mt19937_64 random(static_cast<std::uint64_t>(bits));
    TotalChanges changes(plan_, kClusters);
    std::vector<Int128> former(kCells);
    for (int pass = 0; pass < 3; ++pass) {
      std::vector<Int128> totals(kCells);
      const std::size_t values = kCells * static_cast<std::size_t>(limbs.count);
      std::vector<std::int64_t> sums(values, 7);  // not zero, since changes are added
      for (std::size_t i = 0; i < kCells; ++i) {
        const Int128 digits = static_cast<Int128>(random()) << 64 | random();
        totals[i] = digits >> (128 - bits);
      }
      changes.add_sums(words_of(totals), limbs, sums.data());
      for (std::size_t i = 0; i < kCells; ++i) {
        Int128 change = 0;
        for (int limb = 0; limb < limbs.count; ++limb) {
          const std::int64_t value = sums[static_cast<std::size_t>(limb) * kCells + i] - 7;
          change += static_cast<Int128>(value) << (limb * limbs.bits);
          const bool is_last = limb + 1 == limbs.count;
          EXPECT_TRUE(is_last || (value >= 0 && value >> (limbs.bits - 1) <= 1)) << limb;
        }
        EXPECT_TRUE(change == totals[i] - former[i])
            << limbs.count << " limbs of " << limbs.bits << " bits, pass " << pass;
      }
      former = totals;
    }
  }

  SumPlan plan_;
};

TEST_F(TotalChangesOfPasses, AreLimbsOfSeveralNumbersAndAllWidths) {
  expect_limbs({1, 63}, 62);
  for (int bits = 2; bits <= 63; ++bits) expect_limbs({2, bits}, 2 * bits - 1);
  expect_limbs({3, 40}, 118);
  expect_limbs({8, 15}, 118);
}

TEST_F(TotalChangesOfPasses, FollowAPassWhoseChangesAreNotRequested) {
  TotalChanges changes(plan_, kClusters);
  const SumLimbs limbs{2, 61};
  changes.add_sums(words_of(std::vector<Int128>(kCells, 5)), limbs, nullptr);
  std::vector<std::int64_t> sums(2 * kCells);
  changes.add_sums(words_of(std::vector<Int128>(kCells, 3)), limbs, sums.data());
  EXPECT_EQ(sums[0], (std::int64_t{1} << 61) - 2);
  EXPECT_EQ(sums[kCells], -1);
}

TEST_F(TotalChangesOfPasses, CountSamples) {
  TotalChanges changes(plan_, kClusters);
  std::vector<std::int64_t> counts(kClusters, 1);
  changes.add_counts(std::vector<std::int64_t>{3, 0, 2, 4}, nullptr);
  changes.add_counts(std::vector<std::int64_t>{1, 1, 2, 5}, counts.data());
  EXPECT_EQ(counts, (std::vector<std::int64_t>{-1, 2, 1, 2}));
}

}  // namespace
}  // namespace lloyd
