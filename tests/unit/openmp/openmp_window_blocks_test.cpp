// Blocks of a window that the threads of the openmp plugin share.
#include "openmp/common/window_blocks.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

namespace lloyd_openmp {
namespace {

TEST(OpenmpWindowBlocks, CoverTheWindowInWholeTiles) {
  for (const lloyd::RowRange window :
       {lloyd::RowRange{0, 1}, lloyd::RowRange{0, 20'000}, lloyd::RowRange{40'960, 57'350}}) {
    for (const int threads : {1, 2, 16}) {
      const std::vector<std::int64_t> ends = window_block_ends(window, threads, 64);
      std::int64_t begin = window.begin;
      for (const std::int64_t end : ends) {
        EXPECT_GT(end, begin);
        EXPECT_EQ((begin - window.begin) % kTile, 0);
        begin = end;
      }
      EXPECT_EQ(begin, window.end);
    }
  }
}

TEST(OpenmpWindowBlocks, ShrinkTowardsTheEnd) {
  const std::vector<std::int64_t> ends = window_block_ends({0, 16'384}, 2, 256);
  EXPECT_EQ(ends.front(), 4096);
  std::int64_t former = ends.front();
  for (std::size_t b = 1; b + 1 < ends.size(); ++b) {
    const std::int64_t rows = ends[b] - ends[b - 1];
    EXPECT_LE(rows, former);
    EXPECT_GE(rows, 512);
    former = rows;
  }
  EXPECT_EQ(former, 512);
  EXPECT_LT(std::ssize(ends), 16);
}

TEST(OpenmpWindowBlocks, HoldAtMostOneMebibyteUnlessRowsAreLong) {
  EXPECT_EQ(window_block_ends({0, 1'000'000}, 1, 256).front(), 4096);
  EXPECT_EQ(window_block_ends({0, 1'000'000}, 1, 1 << 20).front(), 512);
}

}  // namespace
}  // namespace lloyd_openmp
