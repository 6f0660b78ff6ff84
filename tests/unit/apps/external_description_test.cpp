// The description that an external program gives of itself: limits and errors.
#include <string>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/parameter_set.hpp>

#include "external/description.hpp"

namespace lloyd::external {
namespace {

constexpr char kWhole[] = R"({"protocol": 1, "name": "mine", "version": "2", "summary": "s",
  "algorithm": "elkan", "accuracy": "half", "reproducibility": "none", "dtypes": ["float32"],
  "devices": ["card"], "parameters": [
    {"name": "threads", "type": "integer", "default": 2, "minimum": 1, "maximum": 8, "meaning": "m"},
    {"name": "loud", "type": "boolean", "default": true},
    {"name": "how", "type": "choice", "choices": ["fast", "slow"]}]})";

TEST(ExternalDescription, IsReadAsInfoAndSchema) {
  const ProgramDescription description(kWhole);
  EXPECT_EQ(description.name, "mine");
  EXPECT_EQ(description.version, "2");
  EXPECT_EQ(description.unavailable, "");
  EXPECT_STREQ(description.info.algorithm, "elkan");
  EXPECT_EQ(description.info.accuracy, Accuracy::half);
  EXPECT_NE(description.info.capabilities & kCapabilityFloat32, 0u);
  EXPECT_EQ(description.info.capabilities & kCapabilityFloat64, 0u);
  ASSERT_EQ(description.devices.size(), 1u);
  EXPECT_STREQ(description.devices[0].name, "card");
  ParameterSet parameters(description.info.parameters, description.info.parameter_count);
  EXPECT_EQ(parameters.text("threads"), "2");
  EXPECT_EQ(parameters.text("loud"), "true");
  EXPECT_EQ(parameters.text("how"), "fast");
  parameters.set("how", "slow");
  EXPECT_EQ(parameters.text("how"), "slow");
  EXPECT_THROW(parameters.set("threads", "9"), InputError);
  EXPECT_FALSE(description.prepares);
  std::string preparing = kWhole;
  preparing.insert(1, R"("prepare": true, )");
  EXPECT_TRUE(ProgramDescription(preparing).prepares);
}

TEST(ExternalDescription, NeedsLittleWhereItIsUnavailable) {
  const ProgramDescription description(
      R"({"protocol": 1, "name": "mine", "unavailable": "no card"})");
  EXPECT_EQ(description.unavailable, "no card");
  EXPECT_EQ(description.info.parameter_count, 0);
}

std::string refusal(const std::string& json) {
  try {
    const ProgramDescription description(json);
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

// The refusal of kWhole with one piece replaced.
std::string refusal_with(const std::string& piece, const std::string& replacement) {
  std::string json = kWhole;
  const std::size_t at = json.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return refusal(json.replace(at, piece.size(), replacement));
}

TEST(ExternalDescription, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("[1]"), "its description is not a JSON object");
  EXPECT_EQ(refusal("hello"), "it is not JSON: unexpected 'h' at byte 1");
  EXPECT_EQ(refusal_with("\"protocol\": 1", "\"protocol\": 2"), "'protocol' is 2, not 1");
  EXPECT_NE(refusal_with("\"mine\"", "\"My Own\"").find("'name' is 'My Own'"), std::string::npos);
  EXPECT_NE(refusal_with("\"half\"", "\"good\"").find("good"), std::string::npos);
  EXPECT_NE(refusal_with("\"float32\"", "\"float16\"").find("float16"), std::string::npos);
  EXPECT_NE(refusal_with("\"default\": 2", "\"default\": 20").find("parameters[0].default"),
            std::string::npos);
  EXPECT_NE(refusal_with("\"minimum\": 1", "\"minimum\": 9").find("parameters[0]"),
            std::string::npos);
  EXPECT_NE(refusal_with("\"loud\"", "\"threads\"").find("parameters[1].name"), std::string::npos);
  EXPECT_NE(refusal_with("\"loud\"", "\"program\"").find("parameters[1].name"), std::string::npos);
  EXPECT_NE(refusal_with("[\"fast\", \"slow\"]", "[]").find("parameters[2].choices"),
            std::string::npos);
  EXPECT_EQ(refusal_with("[\"fast\", \"slow\"]", "[]"),
            "'parameters[2].choices' is an empty list, not a list of words");
  EXPECT_EQ(refusal_with("[\"fast\", \"slow\"]", "[\"fast\", 2]"),
            "'parameters[2].choices' is a list with 2 in it, not a list of texts");
  EXPECT_EQ(refusal_with("[\"card\"]", "[[]]"),
            "'devices' is a list with a list in it, not a list of texts");
  EXPECT_EQ(refusal_with("[\"float32\"]", "[]"),
            "'dtypes' is an empty list, not a list of 'float32', 'float64' or both");
  EXPECT_NE(refusal_with("\"boolean\"", "\"text\"").find("parameters[1].type"), std::string::npos);
}

TEST(ExternalDescription, IsHeldToItsTable) {
  EXPECT_EQ(refusal_with("\"version\": \"2\",", ""), "'version' is missing");
  EXPECT_EQ(refusal_with("\"summary\": \"s\",", ""), "'summary' is missing");
  EXPECT_EQ(refusal_with("\"s\"", "\"two\\nlines\""), "'summary' is 'two?lines', not one line");
  EXPECT_EQ(refusal_with("\"s\"", "null"), "'summary' is null, not a text");
  EXPECT_EQ(refusal_with("\"slow\"]", "\"slow\", \"fast\"]"),
            "'parameters[2].choices' has 'fast' twice");
  EXPECT_NE(refusal_with("\"elkan\"", "\"" + std::string(1001, 'a') + "\"")
                .find("not a text of at most 1000 bytes"),
            std::string::npos);
}

// The description kWhole with one piece replaced.
std::string whole_with(const std::string& piece, const std::string& replacement) {
  std::string json = kWhole;
  return json.replace(json.find(piece), piece.size(), replacement);
}

TEST(ExternalDescription, LineBreaksAtTheEndOfALineAreLeftOut) {
  const auto version = [](const std::string& text) {
    return ProgramDescription(whole_with("\"2\"", "\"" + text + "\"")).version;
  };
  EXPECT_EQ(version("2.1\\n"), "2.1");
  EXPECT_EQ(version("2.1\\r\\n"), "2.1");
  EXPECT_EQ(version("tool 2.1\\nCopyright " + std::string(2000, 'c')), "tool 2.1");
  EXPECT_EQ(version(std::string(2000, '2')), std::string(31, '2'));
  EXPECT_EQ(version("\\n"), "");
  EXPECT_STREQ(ProgramDescription(whole_with("\"s\"", "\"s\\r\\n\"")).info.summary, "s");
  EXPECT_STREQ(ProgramDescription(whole_with("\"elkan\"", "\"elkan\\n2\"")).info.algorithm,
               "elkan\n2");
  EXPECT_STREQ(ProgramDescription(whole_with("\"m\"", "\"m\\n\"")).info.parameters[0].meaning,
               "m\n");
}

TEST(ExternalDescription, NamesOfDevicesArePrintableAndCutBetweenCharacters) {
  const auto name = [](const std::string& text) {
    return std::string(
        ProgramDescription(whole_with("\"card\"", "\"" + text + "\"")).devices[0].name);
  };
  EXPECT_EQ(name("\\u001b[31mred"), "?[31mred");
  const std::string most(sizeof(DeviceInfo::name) - 2, 'g');  // leaves one byte
  EXPECT_EQ(name(most + "\u20ac"), most);
  EXPECT_EQ(name(most + "gg"), most + "g");
}

TEST(ExternalDescription, ReasonsArePrintable) {
  EXPECT_EQ(
      ProgramDescription(R"({"protocol": 1, "name": "mine", "unavailable": "\u001b[31mno\nGPU"})")
          .unavailable,
      "?[31mno?GPU");
}

TEST(ExternalDescription, TextsWithNulAreRefused) {
  EXPECT_EQ(refusal_with("\"loud\"", "\"threads\\u0000x\""),
            "'parameters[1].name' is 'threads?x', not a text without NUL characters");
  EXPECT_EQ(refusal_with("\"slow\"", "\"fast\\u0000x\""),
            "'parameters[2].choices' has 'fast?x', not a text without NUL characters");
  EXPECT_EQ(refusal_with("\"card\"", "\"a\\u0000b\""),
            "'devices' has 'a?b', not a text without NUL characters");
  for (const char* const text : {"\"2\"", "\"s\"", "\"elkan\"", "\"m\""}) {
    EXPECT_NE(refusal_with(text, "\"a\\u0000b\"").find("is 'a?b', not a text without NUL"),
              std::string::npos)
        << text;
  }
}

TEST(ExternalDescription, IsAsLongAsAPacketTakes) {
  const auto choices = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i) {
      list += ", {\"name\": \"p" + std::to_string(100 + i) +
              "\", \"type\": \"choice\", \"choices\": [\"b\", \"" + std::string(900, 'a') + "\"]}";
    }
    return "[\"fast\", \"slow\"]}" + list;
  };
  // The other parameters take 7 + 2 + 4 + 2 + 3 + 2 + 4 + 2 bytes with their quotes, each added one
  // 4 + 2 + 900 + 2.
  EXPECT_EQ(refusal_with("[\"fast\", \"slow\"]}", choices(36)), "taken");
  EXPECT_EQ(
      refusal_with("[\"fast\", \"slow\"]}", choices(37)),
      "the names of its parameters, each with its longest choice, take 33622 bytes; at most 32768 "
      "are possible");
}

TEST(ExternalDescription, KeepsTheBeginningOfALongReason) {
  const ProgramDescription description(R"({"protocol": 1, "name": "mine", "unavailable": ")" +
                                       std::string(100000, 'x') + "\"}");
  EXPECT_EQ(description.unavailable, std::string(1000, 'x') + "...");
}

}  // namespace
}  // namespace lloyd::external
