// Error messages.
#include <string>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/parameter_set.hpp>

#include "experiment/config/config.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

TEST(ErrorText, IsOnePrintableLine) {
  EXPECT_STREQ(InputError("a\nb\x1b[2J\x7f \u00e4").what(), "a?b?[2J? \u00e4");
}

// Characters that control a terminal, reverse or hide text, and invalid UTF-8.
TEST(ErrorText, ReplacesUnsafeCharacters) {
  EXPECT_EQ(printable("a\u009b31mb"), "a?31mb") << "CSI of C1";
  EXPECT_EQ(printable("\u0080\u0085\u009f\u00a0"), "???\u00a0");
  EXPECT_EQ(printable("\u202egnp.exe\u202c"), "?gnp.exe?") << "right-to-left override";
  EXPECT_EQ(printable("\u061c\u200e\u200f\u202a\u2066\u2069"), "??????");
  EXPECT_EQ(printable("a\u200bb\u200d\u2060\ufeff\u00ad\u3164c"), "a?b?????c") << "invisible";
  EXPECT_EQ(printable("a\u2028b\u2029c"), "a?b?c") << "line separators";
  EXPECT_EQ(printable("\U000e0041\U000e007f"), "??") << "tags";
  EXPECT_EQ(printable("\ufdd0\U0001fffe\U0010ffff"), "???") << "noncharacters";
  EXPECT_EQ(printable("\x9b\xff\xc3)"), std::string(3, '?') + ")") << "bytes that are no UTF-8";
  EXPECT_EQ(printable("\xc0\x9b\xe0\x82\x9b\xf4\x90\x80\x80"), "?????????") << "overlong or beyond";
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(printable("\xe2\x82"), "??") << "cut";
  const std::string good = "na\u00efve \u732b \U0001f600 \u0627 \u20ac ~";
  EXPECT_EQ(printable(good), good);
  EXPECT_EQ(printable_lines("a\n\u009bb\n\nc\r"), "a\n?b\n\nc?");
  EXPECT_STREQ(InputError("\u202e\u009b").what(), "??");
}

// The bytes tell what a plugin has put there.
TEST(ErrorText, OfAPluginHasEscapes) {
  EXPECT_EQ(escaped("a\x93\x01\xff b\n\u202e"), "a\\x93\\x01\\xff b\\x0a\\xe2\\x80\\xae");
  const std::string good = "na\u00efve \u732b \\ ~";
  EXPECT_EQ(escaped(good), good);
  EXPECT_EQ(status_message(Status::error(StatusCode::internal, "tile \x93\x01")),
            "tile \\x93\\x01");
  EXPECT_EQ(status_message(Status::error(StatusCode::internal, "")),
            "internal error without a message");
}

// The core's own sessions pass on messages that have the name.
TEST(ErrorText, OfABackendHasItsNameOnce) {
  for (const char* message : {"no table", "ham: no table"}) {
    EXPECT_EQ(message_of<BackendError>(
                  [&] { throw_unless_ok("ham", Status::error(StatusCode::internal, message)); }),
              "ham: no table");
  }
}

TEST(ErrorText, OfParametersAndConfigurationsIsOneLine) {
  constexpr ParameterInfo kSchema[] = {integer_parameter("threads", 0, 0, 9, "")};
  ParameterSet parameters(kSchema, 1);
  EXPECT_EQ(message_of<InputError>([&] { parameters.set("threads", "1\x1d"); }),
            "parameter 'threads' is '1?', which is not an integer; it takes 0 to 9");
  const auto document = experiment::parse_config("{\"a\\nb\": 1}", "c.yaml");
  EXPECT_TRUE(message_of<InputError>([&] {
                experiment::read_experiment(document, ".", "c");
              }).starts_with("c.yaml:1:2: unknown key 'a?b'"));
}

}  // namespace
}  // namespace lloyd
