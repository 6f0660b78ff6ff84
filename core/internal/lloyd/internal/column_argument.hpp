// column_argument: names a column in the value of an option.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lloyd {

/// The value of an option that chooses a column: names[index] if a shell and YAML take that as it
/// is, no other column has it, and it is not a number; otherwise `number`. `names` may be empty.
inline std::string column_argument(const std::vector<std::string>& names, std::size_t index,
                                   std::int64_t number) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_plain = [&](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  };
  const std::string text = index < names.size() ? names[index] : std::string();
  const bool is_usable = std::all_of(text.begin(), text.end(), is_plain) &&
                         !std::all_of(text.begin(), text.end(), is_digit) &&
                         std::count(names.begin(), names.end(), text) == 1;
  return is_usable ? text : std::to_string(number);
}

}  // namespace lloyd
