// Integers on the command line.
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "text/whole_number.hpp"

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

std::string bytes(std::string text) {
  const std::string refusal = byte_count()(text);
  return refusal.empty() ? text : refusal;
}

TEST(ByteCount, TakesDecimalAndBinaryUnits) {
  for (const auto& [text, expected] :
       {std::pair{"1048576", "1048576"}, std::pair{"4GiB", "4294967296"},
        std::pair{"500 MB", "500000000"}, std::pair{"1.5kib", "1536"},
        std::pair{"2tb", "2000000000000"}, std::pair{"7b", "7"}}) {
    EXPECT_EQ(bytes(text), expected) << text;
  }
}

TEST(ByteCount, RefusesInvalidSizes) {
  for (const char* text : {"", "GiB", "-1", "0", "0.1", "1e9", "4 GiB x", "5XB", "nan", "inf",
                           "18446744073709551616", "4GiBGiB"}) {
    EXPECT_EQ(bytes(text),
              fmt::format("'{}' is not a number of bytes, such as 4GiB, 500MB or 1048576", text));
  }
}

}  // namespace
}  // namespace lloyd::apps
