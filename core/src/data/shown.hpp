// shown: text from a file as messages give it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace lloyd {

/// Cut when longer than `limit` bytes, with control characters replaced.
inline std::string shown(std::string_view text, std::size_t limit = 40) {
  std::size_t length = std::min(text.size(), limit);
  if (length < text.size()) {  // not inside a UTF-8 character
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  }
  std::string result(text.substr(0, length));
  std::replace_if(
      result.begin(), result.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return length < text.size() ? result + "..." : result;
}

}  // namespace lloyd
