// Integers of the command line.
#include <string>

#include <gtest/gtest.h>

#include "whole_number.hpp"

namespace lloyd::apps {
namespace {

bool takes(std::string text) {
  return whole_number(-20, 100)(text).empty();
}

TEST(WholeNumber, TakesDecimalDigitsOnly) {
  for (const char* text : {"0", "7", "100", "-1", "-20"}) EXPECT_TRUE(takes(text)) << text;
  for (const char* text :
       {"", "-", "+1", " 1", "1 ", "0x1", "1.0", "101", "-21", "9999999999999999999"}) {
    EXPECT_FALSE(takes(text)) << text;
  }
}

// CLI11 reads these as octal.
TEST(WholeNumber, RefusesLeadingZeros) {
  for (const char* text : {"00", "010", "-010", "-00"}) EXPECT_FALSE(takes(text)) << text;
}

}  // namespace
}  // namespace lloyd::apps
