// Checks of a configuration's text before parsing, and plain messages for YAML errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// Returns the text without a byte-order mark. Throws InputError with the place of the first byte
/// that is not UTF-8 or is a control character other than a tab or a line break; yaml-cpp would
/// replace such bytes, or stop there, without an error.
std::string_view checked_text(std::string_view text, const Place& begin);

/// Throws InputError with the place of a line that begins with '%', which yaml-cpp would skip
/// without an error. YAML's own directives are allowed at the start of the text.
void refuse_directives(std::string_view text, const Place& begin);

/// Whether the bracket or quote at `text[at]` is closed within the text.
bool is_closed(std::string_view text, std::size_t at);

/// Maximum size of a key in bytes, as yaml-cpp limits keys without a leading '? '.
inline constexpr int kMaxKeyBytes = 1024;

/// Returns the text to show for the parser's `message` at `place`: a sentence about a tab in the
/// indentation of that line if there is one, else the message in plainer words.
std::string yaml_error_text(std::string_view text, const Place& place, const std::string& message);

/// The text for use in a message, truncated if it is long.
std::string excerpt(std::string_view text);

}  // namespace lloyd::experiment
