#include "text/whole_number.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <lloyd/parameter_set.hpp>

namespace lloyd::apps {
namespace {

template <class Integer>
CLI::Validator in_range(Integer least, Integer most) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        Integer value{};
        const char* end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, value);
        if (stopped == end && error == std::errc() && !has_leading_zero(text) && value >= least &&
            value <= most) {
          return {};
        }
        if (most == std::numeric_limits<Integer>::max() &&
            error != std::errc::result_out_of_range) {
          return fmt::format("'{}' is not a whole number of at least {}", text, least);
        }
        return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
      },
      "");
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return in_range<std::int64_t>(least, most);
}

CLI::Validator seed_number() {
  return in_range<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
}

CLI::Validator number() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0;
        const char* end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, value);
        if (stopped != end || error == std::errc::invalid_argument || has_leading_zero(text)) {
          return fmt::format("'{}' is not a number, such as 0.5 or 1e-4", text);
        }
        if (error != std::errc()) {
          return fmt::format("'{}' is beyond the range of a float64 number", text);
        }
        return {};
      },
      "");
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 14> kUnits = {{{"", 1},
                                                                                  {"b", 1},
                                                                                  {"kb", 1e3},
                                                                                  {"mb", 1e6},
                                                                                  {"gb", 1e9},
                                                                                  {"tb", 1e12},
                                                                                  {"pb", 1e15},
                                                                                  {"eb", 1e18},
                                                                                  {"kib", 0x1p10},
                                                                                  {"mib", 0x1p20},
                                                                                  {"gib", 0x1p30},
                                                                                  {"tib", 0x1p40},
                                                                                  {"pib", 0x1p50},
                                                                                  {"eib", 0x1p60}}};
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  std::string unit(stopped, end);
  unit.erase(0, unit.find_first_not_of(' '));
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto found = std::find_if(kUnits.begin(), kUnits.end(),
                                  [&](const auto& entry) { return entry.first == unit; });
  const double bytes = found == kUnits.end() ? 0 : number * found->second;
  if (error != std::errc() || !(bytes >= 1) || !(bytes <= 0x1p62)) return std::nullopt;
  if (found->second == 1 && bytes != std::floor(bytes)) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

CLI::Validator byte_count() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const std::optional<std::int64_t> bytes = parse_bytes(text);
        if (!bytes) {
          return fmt::format("'{}' is not a number of bytes, such as 4GiB, 500MB or 1048576", text);
        }
        text = std::to_string(*bytes);
        return {};
      },
      "");
}

}  // namespace lloyd::apps
