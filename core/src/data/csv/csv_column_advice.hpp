// Advice on columns that do not hold numbers, at the end of messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/csv/cells/csv_cursor.hpp"
#include "data/csv/csv_columns.hpp"

namespace lloyd {

/// "drop_columns = {"a", "b"}": the option that leaves out these columns of the file, besides those
/// that are left out already.
std::string drop_setting(const CsvColumns& columns, std::span<const std::int64_t> dropped);
/// The same if the columns option chose the features: "leave a out of the columns option".
std::string choice_without(const CsvColumns& columns, std::int64_t column);
/// "label_column = "a"".
std::string label_setting(const CsvColumns& columns, std::int64_t column);

/// The advice on a cell that holds no number, beginning with a semicolon; may be empty. `row` is at
/// the start of the cell's row, below `rows` rows of numbers and missing values. The advice names
/// all columns that hold text in that row and those that follow it in the block.
std::string column_advice(const CsvColumns& columns, const NumberNeededError& error, CsvCursor row,
                          std::int64_t rows);

}  // namespace lloyd
