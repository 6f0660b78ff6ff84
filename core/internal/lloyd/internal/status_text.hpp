// Texts that come from a file, a plugin or the command line, made safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <lloyd/plugin/status.hpp>

namespace lloyd {

/// The text on one line that a terminal shows as it is: '?' stands for each control character (C0,
/// C1, DEL), line separator, bidirectional control, invisible character, noncharacter and byte that
/// is no UTF-8. What all messages and tables are made of; JSON has the exact text.
std::string printable(std::string_view text);

/// The same for each line of a text; line feeds stay.
std::string printable_lines(std::string_view text);

/// The beginning of a text, of `limit` bytes at the most, that does not end inside of a UTF-8
/// character.
std::string_view cut_text(std::string_view text, std::size_t limit);

/// A status's message, or a text for its code where it has none.
std::string status_message(const Status& status);

/// Throws BackendError, led by `backend`, unless the status is ok.
void throw_unless_ok(const std::string& backend, const Status& status);

}  // namespace lloyd
