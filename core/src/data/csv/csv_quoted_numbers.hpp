// holds_quoted_numbers: tells values from classes in a last column of numbers in quotes.
#pragma once

#include <cstdint>

#include "data/csv/cells/csv_cell_kind.hpp"
#include "data/csv/cells/csv_cursor.hpp"

namespace lloyd {

/// True if the last column holds values, although its first cell is a number in quotes: in the
/// first rows (up to 1000) of the cursor's text, all cells that are not missing are numbers without
/// leading zeros, and one of them is no integer or is not quoted, or more than 20 of them, and more
/// than half, are distinct. `row` is at the first row, `columns` is the number of columns.
bool holds_quoted_numbers(CsvCursor row, std::int64_t columns, const MissingValues& missing);

}  // namespace lloyd
