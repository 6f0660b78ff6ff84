// Messages: the destination of all text that is not a result.
#pragma once

#include <string_view>

namespace lloyd::apps {

/// Descriptor of standard error as it was before divert_standard_error().
int message_descriptor() noexcept;

/// Writes `text`, which must be printable, to message_descriptor(). Waits for a slow reader until
/// interrupted(); after that, text that cannot be written at once is dropped. Errors are ignored: a
/// closed pipe neither throws nor raises SIGPIPE.
void write_message(std::string_view text);

/// True if messages go to a terminal, on which a line can be overwritten.
bool messages_go_to_terminal() noexcept;

/// Redirects standard error to the descriptor `output`; messages keep their destination. Throws
/// Error.
void divert_standard_error(int output);

}  // namespace lloyd::apps
