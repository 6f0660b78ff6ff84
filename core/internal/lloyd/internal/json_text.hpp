// Parsing of JSON from untrusted files, with limits on nesting and keys.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace lloyd {

/// Opens a regular file. Throws InputError with the file's name.
std::ifstream open_text_file(const std::filesystem::path& file);

/// Reads a regular file as a whole. Throws InputError with the file's name, also at the first zero
/// byte.
std::string read_text_file(const std::filesystem::path& file);

/// Makes a text valid UTF-8, as JSON requires. Valid UTF-8 is unchanged; otherwise each byte is
/// decoded as Latin-1, which keeps different texts different.
std::string utf8_text(std::string_view text);
/// utf8_text() of each text.
std::vector<std::string> utf8_texts(const std::vector<std::string>& texts);

/// Maximum keys of one object. The library's ordered objects search all keys at each insertion, so
/// parsing time is quadratic in the number of keys.
inline constexpr std::size_t kMaxJsonKeys = 1024;

/// Parses one JSON value. Throws InputError, one sentence without a file's name, for a syntax
/// error, a duplicate key, an object with more than kMaxJsonKeys keys, and nesting deeper than
/// `max_levels`: copying or destroying deeply nested values would overflow the stack.
nlohmann::ordered_json parse_json(std::string_view text, int max_levels);

}  // namespace lloyd
