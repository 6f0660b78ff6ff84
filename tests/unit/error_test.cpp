// What errors say.
#include <string>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/parameters.hpp>

#include "experiment/config.hpp"
#include "temporary_folder.hpp"

namespace lloyd {
namespace {

TEST(ErrorText, IsOneLineThatATerminalCanBeShown) {
  EXPECT_STREQ(InputError("a\nb\x1b[2J\x7f \u00e4").what(), "a?b?[2J? \u00e4");
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
