// What is said of a command line that cannot be parsed.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace lloyd::apps {

/// One sentence of this program's own, without its name, for what CLI11 refused in `arguments`.
std::string usage_error(const CLI::App& app, int count, const char* const* arguments,
                        const CLI::ParseError& error);

}  // namespace lloyd::apps
