// Recognizes first rows of numbers that name the columns, as programs write for unnamed columns.
#pragma once

#include <vector>

#include "data/csv/cells/csv_cursor.hpp"

namespace lloyd {

/// True if the first row is 0, 1, 2, ..., the names that programs give to unnamed columns, and the
/// second has only numbers with a decimal point or exponent. Samples that begin with such a row do
/// not go on with one that has no integer at all.
bool counts_columns(const std::vector<CsvCell>& first, const std::vector<CsvCell>& second);

/// True if the first row is a header of pandas whose columns are numbers: an empty cell above the
/// index, then 0, 1, 2, ..., years or numbers in equal steps, or, above an index that counts the
/// rows or is text, other distinct numbers; the last cell may be the name of a column of classes.
/// The cells of the index in the rows below (up to 1000) are integers or text, none is empty, and
/// all differ; in samples, of which the first lacks a value, they rarely do. `below` is at the
/// second row.
bool is_header_above_index(const std::vector<CsvCell>& first, CsvCursor below);

}  // namespace lloyd
