// Messages: where this program's own words go that are no results.
#pragma once

#include <string_view>

namespace lloyd::apps {

/// The descriptor of standard error, or of what it was before divert_standard_error().
int message_descriptor() noexcept;

/// Writes `text`, which the caller has made printable, to message_descriptor(). Waits for a reader
/// only until a request to stop, see interrupted(); then what is not read at once is dropped.
/// Errors are ignored: a closed pipe neither throws nor raises SIGPIPE.
void write_message(std::string_view text);

/// Whether somebody reads the messages at a terminal, where a line can be written anew.
bool messages_go_to_terminal() noexcept;

/// From now on what is written to standard error goes to the descriptor `output`; messages go
/// where they went. Throws Error.
void divert_standard_error(int output);

}  // namespace lloyd::apps
