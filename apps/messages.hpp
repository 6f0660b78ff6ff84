// Messages: where this program's own words go that are no results.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string_view>

namespace lloyd::apps {

/// Standard error, or what it was before divert_standard_error(). Not buffered.
std::FILE* message_stream() noexcept;

/// Writes `text`, which the caller has made printable, to message_stream(). Errors are ignored: a
/// closed pipe neither throws nor raises SIGPIPE.
void write_message(std::string_view text);

/// write(2), without SIGPIPE where nobody reads.
ssize_t write_unsignalled(int descriptor, std::string_view text);

/// Whether somebody reads the messages at a terminal, where a line can be written anew.
bool messages_go_to_terminal() noexcept;

/// From now on what is written to standard error goes to the descriptor `output`; messages go
/// where they went. Throws Error.
void divert_standard_error(int output);

}  // namespace lloyd::apps
