// JSON that people or other programs wrote: read whole, and refused where it could do harm.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace lloyd::apps {

/// A regular file, opened. Throws InputError with the file's name.
std::ifstream open_text_file(const std::filesystem::path& file);

/// All of a regular file. Throws InputError with the file's name, also for a byte of zero, behind
/// which it reads no further.
std::string read_text_file(const std::filesystem::path& file);

/// The text where it is UTF-8; else each of its bytes as the character of that number, which is
/// right for Latin-1 and keeps different texts different. JSON holds UTF-8 alone.
std::string utf8_text(std::string_view text);
/// The same of each.
std::vector<std::string> utf8_texts(const std::vector<std::string>& texts);

/// Keys that an object may have. The library looks through all keys of an object for each one that
/// comes, so that the time of reading an object grows with the square of their number.
inline constexpr std::size_t kMaxJsonKeys = 1024;

/// Parses one JSON value. Throws InputError, one sentence without a file's name, for a syntax
/// error, a key that an object has twice, more than kMaxJsonKeys keys in one, and more than
/// `most_levels` objects and arrays inside each other: to copy or destroy what is nested deeply
/// would overflow the stack.
nlohmann::ordered_json parse_json(std::string_view text, int most_levels);

}  // namespace lloyd::apps
