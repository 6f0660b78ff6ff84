// Selection of the labels that are compared with the definition.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/internal/sampled_rows.hpp>

namespace lloyd {
namespace {

TEST(DefinedResult, ComparesAllRowsOnRequest) {
  EXPECT_EQ(sampled_rows(4, 4), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(sampled_rows(1, 1), std::vector<std::int64_t>{0});
}

// One row from each of equal parts, also if products of row numbers exceed 64 bits.
TEST(DefinedResult, DrawnRowsAscendAndCoverTheData) {
  for (const std::int64_t samples : {std::int64_t{1000}, std::int64_t{1} << 60}) {
    constexpr std::int64_t kWanted = 64;
    const std::vector<std::int64_t> rows = sampled_rows(samples, kWanted);
    ASSERT_EQ(std::ssize(rows), kWanted);
    for (std::int64_t part = 0; part < kWanted; ++part) {
      const double share = static_cast<double>(rows[static_cast<std::size_t>(part)]) /
                           static_cast<double>(samples) * kWanted;
      EXPECT_GE(share, static_cast<double>(part) - 0.1);
      EXPECT_LE(share, static_cast<double>(part) + 1.1);
    }
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    EXPECT_EQ(rows, sampled_rows(samples, kWanted));
  }
}

}  // namespace
}  // namespace lloyd
