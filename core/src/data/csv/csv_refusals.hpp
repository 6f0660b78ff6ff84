// Refusals of text files that are not tables whose delimiter separates the cells.
#pragma once

#include <vector>

#include "data/csv/cells/csv_cursor.hpp"

namespace lloyd {

/// Refuses other formats, lines that are single cells in quotes, and lines above the table, by the
/// first two rows. `second` is empty if there is only one row. The cursor is at the first row.
/// Throws InputError.
void refuse_other_formats(const CsvCursor& cursor, const std::vector<CsvCell>& first,
                          const std::vector<CsvCell>& second);

/// Refuses rows in which another character than the delimiter separates the cells, if the first
/// cell is a text or a date; also if it is a number where `names_columns`: options give names of
/// columns, which the undivided header does not have. `row` is at the second row, whose cells are
/// `second`; these are empty if there is only one row.
void refuse_other_delimiter(const CsvCursor& row, const std::vector<CsvCell>& first,
                            const std::vector<CsvCell>& second, bool names_columns);

/// Refuses a header that was not divided into its names because the delimiter is another one. The
/// cursor is on the header's line.
void refuse_undivided_header(const CsvCursor& header, const std::vector<CsvCell>& names);

/// Refuses rows with one cell more than the header, the first of them a row name. `row` is at the
/// first row, whose cells are `cells`.
void refuse_row_names(const CsvCursor& row, const std::vector<CsvCell>& names,
                      const std::vector<CsvCell>& cells);

}  // namespace lloyd
