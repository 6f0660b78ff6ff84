// The text of a configuration: what it may hold, and clear words for what is wrong with its YAML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "experiment/yaml/config_node.hpp"

namespace lloyd::experiment {

/// The text without a byte-order mark. Throws InputError with the place of the first byte that is
/// not UTF-8 or is a control character other than a tab or a line break: the parser would replace
/// or end at it in silence.
std::string_view checked_text(std::string_view text, const Place& begin);

/// Throws InputError with the place of a line that begins with '%', which the parser would leave
/// out in silence. YAML's own directives may stand before everything else.
void refuse_directives(std::string_view text, const Place& begin);

/// Whether the bracket or quote at `text[at]` is closed before the text ends.
bool is_closed(std::string_view text, std::size_t at);

/// Bytes that the parser takes for a key at the most, where no '? ' stands before it.
inline constexpr int kMaxKeyBytes = 1024;

/// What to say of the parser's `message` at `place`: a sentence about a tab in the indentation of
/// that line, or else the message in plainer words.
std::string yaml_error_text(std::string_view text, const Place& place, const std::string& message);

/// A text for a message, cut when it is long.
std::string excerpt(std::string_view text);

}  // namespace lloyd::experiment
