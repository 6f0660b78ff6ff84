// shown: text from a file as messages give it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <lloyd/status_text.hpp>

namespace lloyd {

/// printable(), cut when longer than `limit` bytes.
inline std::string shown(std::string_view text, std::size_t limit = 40) {
  const std::string_view beginning = cut_text(text, limit);
  const std::string result = printable(beginning);
  return beginning.size() < text.size() ? result + "..." : result;
}

}  // namespace lloyd
