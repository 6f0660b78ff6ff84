// Values of backend parameters and integers of the command line, as "name=value". The text of an
// accepted value must be accepted again.
#include <charconv>
#include <cstdint>
#include <limits>

#include <lloyd/parameter_set.hpp>

#include "fuzz.hpp"
#include "text/whole_number.hpp"

namespace lloyd::fuzz {
namespace {

constexpr const char* kLayouts[] = {"soa", "aos"};
constexpr ParameterInfo kSchema[] = {
    integer_parameter("threads", 0, 0, 1024, ""),
    integer_parameter("any", 0, std::numeric_limits<std::int64_t>::min(),
                      std::numeric_limits<std::int64_t>::max(), ""),
    number_parameter("share", 0.5, -1e300, 1e300, ""), boolean_parameter("flag", false, ""),
    choice_parameter("layout", kLayouts, "")};

void check_parameter(const std::string& name, const std::string& value) {
  ParameterSet parameters(kSchema, std::ssize(kSchema));
  parameters.set(name, value);
  const std::string text = parameters.text(name);
  check_line(text);
  ParameterSet again(kSchema, std::ssize(kSchema));
  again.set(name, text);
  require(again.texts() == parameters.texts(), "a parameter's text is read as another value");
}

void check_whole_number(std::string text) {
  const std::string given = text;
  const std::string refusal = apps::whole_number(-5, 1'000'000)(text);
  if (!refusal.empty()) return;
  std::int64_t value = 0;
  std::from_chars(given.data(), given.data() + given.size(), value);
  require(fmt::format("{}", value) == given || given == "-0",
          "a whole number is not what is written");
  require(value >= -5 && value <= 1'000'000, "a whole number is out of its range");
}

}  // namespace
}  // namespace lloyd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  const std::string text(fuzz::text_of(data, size));
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return 0;
  fuzz::check_whole_number(text.substr(equals + 1));
  fuzz::expect_refusal_or(
      [&] { fuzz::check_parameter(text.substr(0, equals), text.substr(equals + 1)); });
  return 0;
}
