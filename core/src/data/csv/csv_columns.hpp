// CsvColumns: assigns the columns of a CSV file to features, classes or nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/data/csv.hpp>

#include "data/csv/cells/csv_cursor.hpp"

namespace lloyd {

struct CsvColumns {
  static constexpr std::int64_t kPassedOver = -1;
  static constexpr std::int64_t kLabel = -2;

  /// For each column of the file: the index of its feature, or one of the constants above.
  std::vector<std::int64_t> roles;
  std::int64_t features = 0;
  bool has_label = false;
  /// True if the last column is the label column only because its first cell is not a number:
  /// CsvClassCheck must then see all of its cells.
  bool label_found = false;
  /// Names of the features; empty if the file has no header.
  std::vector<std::string> feature_names;
  /// Names of all columns; empty if the file has no header.
  std::vector<std::string> names;
  std::vector<std::string> dropped;  ///< CsvOptions::drop_columns
  /// CsvOptions::expected_names if they are names of columns, but others are features, too.
  std::vector<std::string> expected;
  std::vector<std::string> missing;  ///< CsvOptions::missing
  bool drop_missing = false;         ///< CsvOptions::drop_missing
  bool are_chosen = false;           ///< CsvOptions::columns chose the features
  std::int64_t label = -1;           ///< number of the label column
  std::string label_name;            ///< empty if the file has no header
};

/// Upper bound of the memory per column besides its values, in bytes: cells of the first two rows,
/// names, statistics.
constexpr std::int64_t kCsvColumnBytes = 512;

/// Reads the header, if there is one, assigns the columns, and leaves the cursor at the first row
/// of values. Throws InputError if there is no such row, or more than `max_columns` columns.
CsvColumns read_csv_columns(CsvCursor& cursor, const CsvOptions& options, std::int64_t max_columns);

/// True if a row's last cell is text only by its quotes: no other cell of the row is quoted, and
/// its content needs no quotes. `before` is the row up to that cell.
bool is_declared_text(const CsvCell& last, std::string_view before, char delimiter);

}  // namespace lloyd
