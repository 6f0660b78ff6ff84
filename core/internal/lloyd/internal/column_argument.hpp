// column_argument: names a column in the value of an option.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/internal/status_text.hpp>

namespace lloyd {

/// True if the text can be an element of an option's list in a message, once it is quoted for a
/// shell or YAML: it is short, printable, and has no comma, quotation mark, backslash or bracket.
inline bool is_list_element(std::string_view text) {
  constexpr std::size_t kMaxBytes = 60;
  return !text.empty() && text.size() <= kMaxBytes && printable(text) == text &&
         text.find_first_of(",\"\\[]{}") == std::string_view::npos;
}

/// The value of an option that chooses a column: names[index] if no other column has this name and
/// is_list_element() accepts it; otherwise, or if it is a number, `number`. An empty name is
/// returned if it is the only one and `number` is the name of another column. `names` may be empty.
/// The result may need quotes.
inline std::string column_argument(const std::vector<std::string>& names, std::size_t index,
                                   std::int64_t number) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto times = [&](const std::string& text) {
    return std::count(names.begin(), names.end(), text);
  };
  const std::string place = std::to_string(number);
  const std::string text = index < names.size() ? names[index] : std::string();
  if (text.empty() && times(text) == 1 && times(place) > 0) return text;
  if (!is_list_element(text) || text.front() == '-' || times(text) != 1) return place;
  // Names that are numbers precede the numbers of columns.
  const bool is_number = std::all_of(text.begin(), text.end(), is_digit);
  return is_number && times(place) == 0 ? place : text;
}

}  // namespace lloyd
