// whole_number: the one way in which the command line reads numbers and sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>

namespace lloyd::apps {

/// Accepts decimal digits with an optional '-' in front, within [least, most]. CLI11 alone would
/// read 010 as eight, and wrap what does not fit.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
/// The same for seeds: 0 to 2^64 - 1.
CLI::Validator seed_number();
/// Accepts a decimal number such as 1e-4, also "nan" and "inf", which what takes it has words for.
/// CLI11 alone would not say what is wrong with another text.
CLI::Validator number();
/// Turns "4GiB", "500 MB", "1.5gib" or "1048576" into whole bytes, 1 to 2^62.
CLI::Validator byte_count();
/// What byte_count() reads; nothing for another text.
std::optional<std::int64_t> parse_bytes(std::string_view text);

}  // namespace lloyd::apps
