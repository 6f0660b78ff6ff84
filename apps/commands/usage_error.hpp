// Message for a command line that cannot be parsed.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace lloyd::apps {

/// Replaces CLI11's message by one sentence, without the program's name.
std::string usage_error(const CLI::App& app, int count, const char* const* arguments,
                        const CLI::ParseError& error);

}  // namespace lloyd::apps
