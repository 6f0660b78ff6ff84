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

TEST(Numbers, DigitsDistinguishWhatDiffers) {
  EXPECT_EQ(distinguishing_digits({}, 5), 5);
  EXPECT_EQ(distinguishing_digits({1, 2, 2}, 5), 5);
  EXPECT_EQ(distinguishing_digits({13.404954, 13.404954, 52.5}, 5), 5) << "equal values";
  EXPECT_EQ(distinguishing_digits({52.52001, 13.4, 52.52003}, 5), 7);
  EXPECT_EQ(distinguishing_digits({1700000600, 1700000000}, 5), 10) << "integers have all digits";
  EXPECT_EQ(distinguishing_digits({-1700000000.25, -1700000000}, 5), 11);
  EXPECT_EQ(distinguishing_digits({0.1, 0.1 + 0x1p-55}, 5), 5) << "noise";
  EXPECT_EQ(distinguishing_digits({1e300, -1e300}, 5), 5);
  EXPECT_EQ(distinguishing_digits({1e300, 1.000001e300}, 5), 7);
}

}  // namespace
}  // namespace lloyd::experiment
