// LastWords: the first error and the tail of another process's output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "ipc/descriptor.hpp"

namespace lloyd::apps {

/// Puts a text on one line: line breaks and tabs, with the blanks around them, become one space,
/// and printable() replaces what cannot be shown.
std::string on_one_line(std::string_view text);

/// Keeps the last bytes of an output, and the beginning of its first line that reads like an error.
class KeptOutput {
 public:
  /// `max_bytes` are kept.
  explicit KeptOutput(std::size_t max_bytes = 300) : max_bytes_(max_bytes) {}

  void add(std::string_view bytes);
  void clear();
  /// The last bytes, `max_bytes` at most, as on_one_line(); may be empty. If earlier output is left
  /// out, they begin with a line or with "...", and the first error, if it is not among them,
  /// precedes them: "<error> ... <tail>".
  std::string text(std::size_t max_bytes = std::numeric_limits<std::size_t>::max()) const;
  /// The last line that begins with `prefix`, without it, as on_one_line(); empty if there is none.
  std::string last_line(std::string_view prefix) const;

 private:
  /// Contiguous bytes of the output.
  struct Passage {
    std::string bytes;
    std::uint64_t begin = 0;  ///< offset in the output
    std::uint64_t end() const { return begin + bytes.size(); }
  };
  void look_for_error(std::string_view bytes);
  void end_line();

  std::size_t max_bytes_;
  std::string words_;
  std::uint64_t total_ = 0;  // bytes of output
  Passage line_;             // the beginning of the current line
  Passage error_;            // empty until it is found
  bool error_complete_ = false;
};

/// Reads a pipe that other processes write to, and keeps its last words.
class LastWords : public KeptOutput {
 public:
  /// Creates the pipe. Throws Error.
  explicit LastWords(std::size_t max_bytes = 300);

  /// The write end, for the other process. Take it once, and close this process's copy.
  Descriptor take_output() { return std::move(output_); }

  /// Reads the available bytes without waiting. The amount per call is limited; a fast writer's
  /// rest is left for the next call.
  void drain();
  /// Descriptor for poll(2); negative once all write ends are closed.
  int descriptor() const { return input_.get(); }

 private:
  Descriptor input_;
  Descriptor output_;
};

/// Appends the words to the sentence: "<sentence>; last words: <words>". Unchanged if `words` is
/// empty.
std::string with_last_words(std::string sentence, const std::string& words);

}  // namespace lloyd::apps
