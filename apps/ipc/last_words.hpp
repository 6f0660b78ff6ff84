// LastWords: the tail of another process's output.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "ipc/descriptor.hpp"

namespace lloyd::apps {

/// Puts a text on one line: line breaks and tabs, with the blanks around them, become one space,
/// and printable() replaces what cannot be shown.
std::string on_one_line(std::string_view text);

/// Reads a pipe that other processes write to, and keeps the last bytes.
class LastWords {
 public:
  /// Creates the pipe. `max_bytes` are kept. Throws Error.
  explicit LastWords(std::size_t max_bytes = 300);

  /// The write end, for the other process. Take it once, and close this process's copy.
  Descriptor take_output() { return std::move(output_); }

  /// Reads the available bytes without waiting. The amount per call is limited; a fast writer's
  /// rest is left for the next call.
  void drain();
  void clear() { words_.clear(); }
  /// See on_one_line(); may be empty.
  std::string text() const { return on_one_line(words_); }
  /// The last line that begins with `prefix`, without it, as text(); empty if there is none.
  std::string last_line(std::string_view prefix) const;
  /// Descriptor for poll(2); negative once all write ends are closed.
  int descriptor() const { return input_.get(); }

 private:
  Descriptor input_;
  Descriptor output_;
  std::size_t max_bytes_;
  std::string words_;
};

/// Appends the words to the sentence: "<sentence>; last words: <words>". Unchanged if `words` is
/// empty.
std::string with_last_words(std::string sentence, const std::string& words);

}  // namespace lloyd::apps
