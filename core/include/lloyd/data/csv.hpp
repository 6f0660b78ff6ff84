// CSV: text tables in and out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>

namespace lloyd {

struct CsvOptions {
  /// Not set: a tab for .tsv files, else a comma.
  std::optional<char> delimiter;
  /// Whether the first line names the columns. Not set: it does when `columns` or `label_column`
  /// give names, or one of its feature cells is no number, or only its last cell is no number
  /// while the last cell of the next line is one.
  std::optional<bool> header;
  /// Columns to read as features, in this order, by name or by number from 0; empty: all but the
  /// label column.
  std::vector<std::string> columns;
  /// Column with the class of each sample, by name or number; empty: a last column whose first cell
  /// is neither a number nor empty is taken as classes when no `columns` are given and another
  /// column is left, else there are none.
  std::string label_column;
  DType dtype = DType::float32;
};

/// Reads a table of numbers (std::from_chars, with an optional leading '+'; blanks around cells and
/// empty lines are passed over; LF or CRLF; cells may stand in double quotes; a UTF-8 byte-order
/// mark is skipped). Each number is rounded once, to the nearest value of the dtype. Throws
/// InputError with file, line and column (both from 1) for a cell that is no number, not finite or
/// beyond the dtype's range and for a row of another length, and with the file for an unknown
/// column or an empty table. The data set's name is the file's.
Dataset read_csv(const std::filesystem::path& file, const CsvOptions& options = {});

/// Write rows x columns values with the shortest digits that read back to the same bits, or one
/// label a line. Throw Error when that fails; the file then is what it was before.
void write_csv(const std::filesystem::path& file, std::span<const double> values,
               std::int64_t columns, std::span<const std::string> header = {});
void write_csv(const std::filesystem::path& file, std::span<const std::int32_t> labels);
/// Writes a data set: a header where the features have names, the values with the shortest digits
/// of their own dtype, and classes, where there are some, as the last column, `class`.
void write_csv(const std::filesystem::path& file, const Dataset& dataset);

}  // namespace lloyd
