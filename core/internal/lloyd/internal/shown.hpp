// shown: quotes texts from files in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/internal/status_text.hpp>

namespace lloyd {

/// Makes a text printable, cut to `limit` bytes with "..." behind.
inline std::string shown(std::string_view text, std::size_t limit = 40) {
  const std::string_view beginning = cut_text(text, limit);
  const std::string result = printable(beginning);
  return beginning.size() < text.size() ? result + "..." : result;
}

/// Lists names for a message, separated by commas: the first 40 and the number of the others.
inline std::string shown_names(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNames = 40;
  constexpr std::size_t kMaxNameBytes = 100;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMaxNames; ++i) {
    text += (i == 0 ? "" : ", ") + shown(names[i], kMaxNameBytes);
  }
  if (names.size() > kMaxNames) {
    text += " and " + std::to_string(names.size() - kMaxNames) + " more";
  }
  return text;
}

/// Lists names in a sentence: "a, b and c", with `conjunction` before the last one.
inline std::string enumerated(const std::vector<std::string>& names, std::string_view conjunction) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && i + 1 == names.size()) {
      text.append(" ").append(conjunction).append(" ");
    } else if (i > 0) {
      text += ", ";
    }
    text += names[i];
  }
  return text;
}

}  // namespace lloyd
