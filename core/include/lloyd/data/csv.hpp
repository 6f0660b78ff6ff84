// CSV: text tables in and out.
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

/// How a text is read.
struct CsvOptions {
  /// Not set: a tab for .tsv files, else a comma.
  std::optional<char> delimiter;
  /// Whether the first line names the columns. Not set: it does when `columns` or `label_column`
  /// give names, or each of its feature cells is a name: no number, or a number in quotes above a
  /// cell without. A first line with numbers and other text among its feature cells is refused,
  /// but for a class in its last cell.
  std::optional<bool> header;
  /// Columns to read as features, in this order, by name or by number from 0; empty: all but the
  /// label column.
  std::vector<std::string> columns;
  /// Column with the class of each sample, by name or number; empty: a last column is taken as
  /// classes when no `columns` are given, another column is left and all of it is text. Text is
  /// what neither is a number nor looks like one (2,5 1,000 12% 2024-01-31), or stands as its row's
  /// only cell in quotes that it would not need. Marks of missing values (an empty cell, NA, ?,
  /// null) and quantities (12kg) are text where another cell is. A last column that is partly text
  /// is refused.
  std::string label_column;
  DType dtype = DType::float32;  ///< that the numbers are rounded to
  /// Bytes of memory that reading may take, what is read included; InputError beyond.
  std::int64_t memory_limit = std::numeric_limits<std::int64_t>::max();
  /// Is asked between blocks of some megabytes, and Cancelled is thrown once it says so; may be
  /// empty.
  std::function<bool()> stop = {};
};

/// Reads a table of numbers (std::from_chars, with an optional leading '+'; blanks around cells and
/// empty lines are passed over; LF or CRLF; cells may stand in double quotes; a UTF-8 byte-order
/// mark is skipped; no line is a comment). Each number is rounded once, to the nearest value of the
/// dtype; what is nearer to zero than to the dtype's least number becomes zero. Throws InputError
/// with file, line and column (both from 1) for a cell that is no number, not finite or beyond the
/// dtype's range, for a row of another length, for a carriage return or NUL byte inside a cell and
/// where the first line could be a header or a sample, or its first column row numbers; with file
/// and line for a line above 256 MiB and for what `memory_limit` does not hold; and with the file
/// for an unknown column, an empty table, a text in UTF-16 or a file that is changed while it is
/// read. Throws Cancelled as `stop` says. The data set's name is the file's.
Dataset read_csv(const std::filesystem::path& file, const CsvOptions& options = {});

/// Write rows x columns values with the shortest digits that read back to the same bits, or one
/// label a line. Names and classes that are numbers, or empty, are written in quotes: read_csv then
/// knows them for what they are. Throw Error when that fails; the file then is what it was before.
void write_csv(const std::filesystem::path& file, std::span<const double> values,
               std::int64_t columns, std::span<const std::string> header = {});
/// One label a line.
void write_csv(const std::filesystem::path& file, std::span<const std::int32_t> labels);
/// Writes a data set: a header where the features have names, the values with the shortest digits
/// of their own dtype, and classes, where there are some, as the last column, `class`.
void write_csv(const std::filesystem::path& file, const Dataset& dataset);

}  // namespace lloyd
