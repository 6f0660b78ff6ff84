// Makes texts from files, plugins and the command line safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <lloyd/plugin/abi/status.hpp>

namespace lloyd {

/// Makes a text printable on one line: '?' replaces each control character (C0, C1, DEL), line
/// separator, bidirectional control, invisible character, noncharacter and invalid UTF-8 byte. All
/// messages and tables use it; JSON output has the exact text.
std::string printable(std::string_view text);

/// Like printable(), but each byte of such a character becomes an escape such as "\x1b", which says
/// what a plugin has put there, for example after it corrupted its heap.
std::string escaped(std::string_view text);

/// Applies printable() to each line of a text; line feeds stay.
std::string printable_lines(std::string_view text);

/// The longest prefix of a text that has at most `limit` bytes and does not end inside of a UTF-8
/// character.
std::string_view cut_text(std::string_view text, std::size_t limit);

/// The message of a status, escaped(), or a text for its code if it has none.
std::string status_message(const Status& status);

/// Throws BackendError, with `backend` in front of the message, unless the status is ok.
void throw_unless_ok(const std::string& backend, const Status& status);

}  // namespace lloyd
