// Reads and writes tables as text (CSV).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Options for reading text.
struct CsvOptions {
  /// If not set: a tab for .tsv files, else a comma, or a semicolon with `decimal_comma`.
  std::optional<char> delimiter;
  /// Whether the first line holds the column names. If not set: it does if `columns`,
  /// `drop_columns` or `label_column` give names, or if each of its feature cells is a name: text
  /// that is not a number, or a quoted number above an unquoted cell; or if it is an empty cell and
  /// numbers, above a column of row numbers or texts, as pandas writes it. If the feature cells of
  /// the first line mix numbers and other text, the file is refused; a class in the last cell is
  /// accepted.
  std::optional<bool> header;
  /// Names of features that the header is expected to have, such as those of a model. If `header`
  /// is not set, a first line that contains all of them is a header, even if they are numbers.
  std::vector<std::string> expected_names = {};
  /// The feature columns, in this order, by name or by number from 0. If empty: all but the label
  /// column.
  std::vector<std::string> columns;
  /// The column with the class of each sample, by name or number. If empty, the last column is read
  /// as classes if `columns` is empty, it is not the only column, and all of its cells are text. A
  /// cell is text if it neither is a number nor looks like one (2,5 1,000 12% 2024-01-31), or if it
  /// is the only cell of its row with unnecessary quotes. Markers of missing values (an empty cell,
  /// NA, ?, null), NaN and quantities (12kg) count as text if another cell is text. Quoted numbers
  /// are features nevertheless if, in the first rows (up to 1000), no cell is another text, and one
  /// is no integer or is not quoted, or there are more than 20 distinct ones and at most twice as
  /// many rows. A last column that is partly text is refused. A sample whose cell is NaN or a
  /// marker of a missing value has no class (an empty string), unless the cell is in quotes and no
  /// cell to the left of it is.
  std::string label_column;
  DType dtype = DType::float32;  ///< type that the numbers are rounded to
  /// Columns to leave out, by name or number; an empty text is the name of a column without a name.
  /// Only used if `columns` is empty.
  std::vector<std::string> drop_columns = {};
  /// Leaves out rows in which a feature is missing: a marker of a missing value (an empty cell, NA,
  /// ?, null) or NaN. Dataset::dropped_rows counts them.
  bool drop_missing = false;
  /// Texts of feature cells that count as missing, besides the markers above. A text that
  /// is a number, with a decimal point, also matches cells of equal value: -999 matches -999.0.
  /// Such a cell is refused unless `drop_missing` is set.
  std::vector<std::string> missing = {};
  /// Reads 2,5 as 2.5 and 1.234,5 as 1234.5, and refuses a number with a point alone. If the
  /// delimiter is a comma, numbers with decimals must be in quotes.
  bool decimal_comma = false;
  /// Memory limit of reading in bytes, including the result. Exceeding it throws InputError.
  std::int64_t memory_limit = std::numeric_limits<std::int64_t>::max();
  /// The character between groups of three digits, a point, comma, apostrophe, blank or underscore:
  /// with ',', 1,234.5 is read as 1234.5, in quotes if ',' is also the delimiter. With '.',
  /// decimals have commas, and a point that is not followed by three digits is refused.
  std::optional<char> thousands = {};
  /// Polled between blocks of some megabytes; reading throws Cancelled once it returns true. May be
  /// empty.
  std::function<bool()> stop = {};
};

/// Reads a table of numbers; the name of the data set is the file's.
/// Syntax: numbers as in std::from_chars, with an optional leading '+'; spaces and tabs around
/// cells, also around numbers in quotes, and blank lines, are ignored, except that a blank line
/// between the rows of a single column is a missing value; lines end with LF or CRLF; cells may be
/// in double quotes; in columns that are left out, a quoted cell may contain line breaks; a UTF-8
/// byte-order mark is skipped; there are no comments. Each number is rounded once, to the nearest
/// value of the dtype; numbers below the smallest subnormal of the dtype become zero. Throws
/// InputError with file, line and column (counted from 1) for a cell that is not a number, not
/// finite or beyond the range of the dtype, for a row of a different length, for a carriage return
/// or NUL byte in a cell, and if the first line could be a header or a sample or its first column
/// row numbers; with file and line for a line above 256 MiB and if `memory_limit` is exceeded; with
/// the file for an unknown column, an empty table, UTF-16 text, or a file that changes while it is
/// read. Throws Cancelled if `stop` returns true.
Dataset read_csv(const std::filesystem::path& file, const CsvOptions& options = {});

/// Writes rows x columns values with the fewest digits that read back to the same bits. Names and
/// classes that are numbers or empty are quoted, so that read_csv() recognises them. All three
/// functions throw Error if writing fails; the file is then unchanged.
void write_csv(const std::filesystem::path& file, std::span<const double> values,
               std::int64_t columns, std::span<const std::string> header = {});
/// Writes one label per line.
void write_csv(const std::filesystem::path& file, std::span<const std::int32_t> labels);
/// Writes a data set: a header if the features have names, the values with the fewest digits that
/// their dtype needs, and the classes, if any, as the last column, called Dataset::class_name
/// (`class` if that is empty or a number).
void write_csv(const std::filesystem::path& file, const Dataset& dataset);

}  // namespace lloyd
