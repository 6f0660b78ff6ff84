// The stream of results.
#pragma once

#include <string_view>

namespace lloyd::apps {

/// Descriptor of standard output, or of its private copy after keep_results_apart().
int result_descriptor() noexcept;

/// Moves results to a private copy of standard output, and redirects standard output itself to
/// standard error, so that output of plugins does not mix with results. Throws Error.
void keep_results_apart();

/// Buffers the text until the buffer is full or flush_results() is called. Throws as that does.
void write_result(std::string_view text);
/// Writes and clears the buffer. Throws std::system_error, with a sentence for the user, if
/// standard output cannot be written. After a stop request, see interrupted(), it throws Error if
/// the reader takes nothing for a second. If the reader is gone, raises SIGPIPE first, unless a
/// ReaderLossAsError exists.
void flush_results();

/// While an object exists, flush_results() reports a reader that is gone by its exception alone
/// (EPIPE). Not thread-safe, as the other functions of this header.
class ReaderLossAsError {
 public:
  ReaderLossAsError();
  ~ReaderLossAsError();
  ReaderLossAsError(const ReaderLossAsError&) = delete;
  ReaderLossAsError& operator=(const ReaderLossAsError&) = delete;

 private:
  bool former_;
};

}  // namespace lloyd::apps
