// ForeignOutput: what a plugin prints, on its way to standard error.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "ipc/descriptor.hpp"

namespace lloyd::apps {

/// What the reader of a child's last messages is given after a request to stop and the child's end.
inline constexpr std::chrono::seconds kMessageGrace{1};

/// Two ends of a pipe that are closed on exec, the one to read from first. Throws Error.
std::pair<Descriptor, Descriptor> make_pipe();

/// Passes on what comes out of a pipe to where the messages of this process go, as
/// printable_lines() shows it, so that nothing in it steers a terminal. Keeps some kilobytes at
/// most: who prints faster than it is read waits.
class ForeignOutput {
 public:
  /// `pipe` is the end to read from.
  explicit ForeignOutput(Descriptor pipe);

  /// What pass_on() waits for, for poll(2).
  pollfd waited() const;
  /// Reads and writes what can be read and written without waiting.
  void pass_on();
  /// Passes on what is still in the pipe when the writer has ended, ends the last line, and writes
  /// `last_words` of this program, which are printable lines. Waits for whoever reads the messages,
  /// unless `stop`, which is called ten times a second, returns true.
  void finish(std::string_view last_words, const std::function<bool()>& stop);

 private:
  void read_some();
  void write_some();

  Descriptor pipe_;
  std::string cut_;    ///< the beginning of a UTF-8 sequence whose end has not been read
  std::string shown_;  ///< what is to be written
  bool line_open_ = false;
  bool ending_ = false;
  std::size_t left_ = 0;  ///< bytes that are read at most, once the writer has ended
  std::string_view last_words_;
};

}  // namespace lloyd::apps
