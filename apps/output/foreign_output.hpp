// ForeignOutput: forwards a plugin's output to standard error.
#pragma once

#include <poll.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "ipc/descriptor.hpp"
#include "ipc/last_words.hpp"

namespace lloyd::apps {

/// Creates a pipe, close-on-exec: {read end, write end}. Throws Error.
std::pair<Descriptor, Descriptor> make_pipe();

/// Forwards the content of a pipe to message_descriptor(), made printable by printable_lines() so
/// that it cannot control a terminal. Buffers a few kilobytes at most: a faster writer blocks.
class ForeignOutput {
 public:
  /// `pipe`: the read end. `kept`, unless null, receives what is read, and must outlive this
  /// object.
  explicit ForeignOutput(Descriptor pipe, KeptOutput* kept = nullptr);

  /// The condition, for poll(2), on which to call pass_on().
  pollfd waited() const;
  /// Reads and writes without waiting.
  void pass_on();
  /// Repeats pass_on() until the pipe is empty or the reader of the messages would have to be
  /// waited for.
  void pass_on_available();
  /// Call it after the writer's end. Forwards the rest of the pipe, ends the last line, and writes
  /// `last_words`, which are printable lines of this program. Waits for the reader of the messages
  /// until `stop`, polled ten times a second, returns true.
  void finish(std::string_view last_words, const std::function<bool()>& stop);

 private:
  void read_some();
  void write_some();

  Descriptor pipe_;
  KeptOutput* kept_;
  std::string cut_;    ///< first bytes of an incomplete UTF-8 sequence
  std::string shown_;  ///< printable text to be written
  bool line_open_ = false;
  bool ending_ = false;
  std::size_t left_ = 0;  ///< maximum bytes still to read after the writer's end
  std::string_view last_words_;
};

}  // namespace lloyd::apps
