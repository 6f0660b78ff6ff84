// Colour on terminals.
#pragma once

#include <string>
#include <string_view>

namespace lloyd::apps {

enum class Colour { red, green, yellow };

/// True if output to this descriptor may be coloured: it is a terminal, TERM is not "dumb", and
/// NO_COLOR is unset or empty (https://no-color.org).
bool shows_colour(int descriptor);

/// The text between the control sequences of a colour. `text` must be printable: this function adds
/// the only control characters that reach a terminal.
std::string coloured(std::string_view text, Colour colour);

/// A printable message with the prefix "lloyd: warning:" in yellow, if messages show colour.
std::string highlight_warning(std::string message);

/// "lloyd: <sentence>" with a line feed, for a printable sentence that says why a command failed;
/// the prefix is red if messages show colour.
std::string failure_message(std::string_view sentence);

}  // namespace lloyd::apps
