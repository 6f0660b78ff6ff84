// shell_word: quotes a text so that a command in a message can be pasted into a shell.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace lloyd {

/// The text as one word of a POSIX shell: as it is, or in quotes if it needs them.
inline std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+,:=@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  if (text.find('\'') != std::string_view::npos &&
      text.find_first_of("\"$`\\!") == std::string_view::npos) {
    return std::string("\"").append(text).append("\"");
  }
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace lloyd
