// format_count: a number and its noun in messages.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace lloyd {

/// "1 trial", "2 trials": the number and `what`, a noun whose plural ends in s.
template <std::integral Integer>
std::string format_count(Integer count, std::string_view what) {
  std::string text = std::to_string(count);
  text.append(" ").append(what);
  if (count != 1) text += 's';
  return text;
}

}  // namespace lloyd
