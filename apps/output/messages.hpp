// Messages: the destination of all text that is not a result.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace lloyd::apps {

/// Time for a reader of messages after a stop request: of the program's own messages, and of a
/// child's last ones after its end.
inline constexpr std::chrono::seconds kMessageGrace{1};

/// Descriptor of standard error as it was before divert_standard_error().
int message_descriptor() noexcept;

/// From now on, messages contain `name`, which must be printable, in place of `path` and of its
/// file name: those of a temporary file mean nothing to the user. No other file may have the file
/// name. One path at a time.
void name_in_messages(const std::filesystem::path& path, std::string name);
/// Applies name_in_messages() to a text.
std::string with_names(std::string_view text);

/// Writes `text`, which must be printable, to message_descriptor(). Waits for a slow reader. If
/// after interrupted() it takes nothing for kMessageGrace, the rest of the text is dropped, and
/// from then on all text that cannot be written at once. Errors are ignored: a closed pipe neither
/// throws nor raises SIGPIPE.
void write_message(std::string_view text);

/// true: drops all later messages and failure reports of this process; false: writes them again.
void set_silent(bool silent) noexcept;
bool is_silent() noexcept;

/// True if messages go to a terminal, on which a line can be overwritten.
bool messages_go_to_terminal() noexcept;

/// Redirects standard error to the descriptor `output`; messages keep their destination. Throws
/// Error.
void divert_standard_error(int output);

}  // namespace lloyd::apps
