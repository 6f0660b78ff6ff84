// shown: text from a file as messages give it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <lloyd/status_text.hpp>

namespace lloyd {

/// printable(), cut when longer than `limit` bytes.
inline std::string shown(std::string_view text, std::size_t limit = 40) {
  std::size_t length = std::min(text.size(), limit);
  if (length < text.size()) {  // not inside a UTF-8 character
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  }
  const std::string result = printable(text.substr(0, length));
  return length < text.size() ? result + "..." : result;
}

}  // namespace lloyd
