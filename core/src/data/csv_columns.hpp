// CsvColumns: what each column of a CSV file is read as.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/data/csv.hpp>

#include "data/csv_cursor.hpp"

namespace lloyd {

struct CsvColumns {
  static constexpr std::int64_t kPassedOver = -1;
  static constexpr std::int64_t kLabel = -2;

  /// For each column of the file: the number of its feature, or one of the constants above.
  std::vector<std::int64_t> roles;
  std::int64_t features = 0;
  bool has_label = false;
  /// Whether the label column is the last one because its first cell is no number: CsvClassCheck
  /// has to see all of its cells.
  bool label_found = false;
  /// Names of the features; empty when the file has no header.
  std::vector<std::string> feature_names;
};

/// Memory that a column takes beside its values, at the most, in bytes: cells of the first two
/// rows, names, statistics.
constexpr std::int64_t kCsvColumnBytes = 512;

/// Reads the header, if there is one, and decides on the columns; leaves the cursor at the first
/// row of values. Throws InputError when there is none, or more than `max_columns` columns.
CsvColumns read_csv_columns(CsvCursor& cursor, const CsvOptions& options, std::int64_t max_columns);

/// Whether quotes alone make a row's last cell a text: they stand around no other cell, and it has
/// nothing in it that would need them. `before` is the row up to that cell.
bool is_declared_text(const CsvCell& last, std::string_view before, char delimiter);

}  // namespace lloyd
