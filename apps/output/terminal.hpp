// Width of terminals.
#pragma once

#include <cstddef>
#include <optional>

namespace lloyd::apps {

/// Number of columns of the terminal behind a descriptor; none if it is no terminal, or one that
/// does not know its size.
std::optional<std::size_t> terminal_columns(int descriptor);

/// Width of the tables of results: on a terminal its columns, or those of the variable COLUMNS if
/// that is a positive number, and at least 60; kTableWidth if results do not go to a terminal.
std::size_t result_width();

}  // namespace lloyd::apps
