// LastWords: the end of what another process prints.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "ipc/descriptor.hpp"

namespace lloyd::apps {

/// The text in one line of ASCII: other bytes are '?', and a run of blanks is one space.
std::string printable_ascii(std::string_view text);

/// Reads a pipe that other processes write to, and keeps the end of it.
class LastWords {
 public:
  /// Makes the pipe. Throws Error.
  LastWords();

  /// The end that is written to, for the other process. To be taken once, and closed here.
  Descriptor take_output() { return std::move(output_); }

  /// Reads what is there, without waiting for more. What is written faster than that can be read
  /// is left for the next call.
  void drain();
  /// Forgets what was read.
  void clear() { words_.clear(); }
  /// See printable_ascii(); may be empty.
  std::string text() const { return printable_ascii(words_); }
  /// What there is to poll; negative once nobody can write any more.
  int descriptor() const { return input_.get(); }

 private:
  Descriptor input_;
  Descriptor output_;
  std::string words_;
};

/// The sentence with the words behind it, where there are some.
std::string with_last_words(std::string sentence, const std::string& words);

}  // namespace lloyd::apps
