// PassTotals: sums that several passes change by limbs.
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "distributed/pass_totals.hpp"

namespace lloyd {
namespace {

Int128 value_of(const SumWords& words) {
  return static_cast<Int128>(words.high) << 64 | words.low;
}

// Random changes of up to `bits` bits, in two passes.
void expect_sums_of_changes(const SumLimbs& limbs, int bits, int ranks = 2) {
  constexpr std::int64_t kClusters = 3;
  constexpr std::int64_t kFeatures = 5;
  constexpr std::size_t kCells = kClusters * kFeatures;
  std::mt19937_64 random(static_cast<std::uint64_t>(bits));
  PassTotals totals(kClusters, kFeatures);
  std::vector<Int128> expected(kCells);
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<std::int64_t> changes(kCells * static_cast<std::size_t>(limbs.count));
    for (int rank = 0; rank < ranks; ++rank) {
      for (std::size_t i = 0; i < kCells; ++i) {
        const Int128 digits = static_cast<Int128>(random()) << 64 | random();
        const Int128 change = digits >> (128 - bits);  // of either sign
        expected[i] += change;
        add_limbs(change, limbs, &changes[i], kCells);
      }
    }
    totals.add_sums(limbs, changes.data());
  }
  for (std::size_t i = 0; i < kCells; ++i) {
    EXPECT_TRUE(value_of(totals.sums[i]) == expected[i]) << limbs.count << " limbs, cell " << i;
  }
}

TEST(PassTotals, AddLimbsOfEveryNumber) {
  expect_sums_of_changes({1, 63}, 62);
  expect_sums_of_changes({2, 62}, 123);
  expect_sums_of_changes({2, 63}, 125, 1);
  expect_sums_of_changes({2, 61}, 100);
  expect_sums_of_changes({2, 40}, 79);
  expect_sums_of_changes({3, 40}, 119);
  expect_sums_of_changes({4, 31}, 122);
}

}  // namespace
}  // namespace lloyd
