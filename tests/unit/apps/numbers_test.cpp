// Numbers formatted for people.
#include <gtest/gtest.h>

#include "text/numbers.hpp"

namespace lloyd::experiment {
namespace {

TEST(Numbers, MillisecondsAreSecondsFrom1000On) {
  EXPECT_EQ(format_ms(0), "0 ms");
  EXPECT_EQ(format_ms(0.04207), "0.0421 ms");
  EXPECT_EQ(format_ms(999.4), "999 ms");
  EXPECT_EQ(format_ms(999.6), "1 s");
  EXPECT_EQ(format_ms(1234), "1.23 s");
  EXPECT_EQ(format_ms(99940), "99.9 s");
  EXPECT_EQ(format_ms(1234567), "1235 s");
}

}  // namespace
}  // namespace lloyd::experiment
