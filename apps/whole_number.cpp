#include "whole_number.hpp"

#include <charconv>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace lloyd::apps {
namespace {

template <class Integer>
CLI::Validator in_range(Integer least, Integer most) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        Integer value{};
        const char* end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, value);
        const std::string_view digits = std::string_view(text).substr(text.starts_with('-'));
        const bool leading_zero = digits.size() > 1 && digits.front() == '0';
        if (stopped == end && error == std::errc() && !leading_zero && value >= least &&
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

}  // namespace lloyd::apps
