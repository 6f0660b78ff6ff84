// Validators of numbers and sizes on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>

namespace lloyd::apps {

/// Accepts decimal digits with an optional leading '-', within [least, most]. CLI11 alone would
/// read 010 as eight, and wrap values beyond the type's range.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
/// Like whole_number() for seeds: 0 to 2^64 - 1.
CLI::Validator seed_number();
/// Accepts a decimal number such as 1e-4, and also "nan" and "inf", which the receiver of the value
/// rejects with its own message. CLI11's message for other texts would not name the error.
CLI::Validator number();
/// Converts "4GiB", "500 MB", "1.5gib" or "1048576" to whole bytes, 1 to 2^62.
CLI::Validator byte_count();
/// The conversion of byte_count(); no value for an invalid text.
std::optional<std::int64_t> parse_bytes(std::string_view text);

}  // namespace lloyd::apps
