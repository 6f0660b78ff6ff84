// CsvColumns: what each column of a CSV file is read as.
#pragma once

#include <cstdint>
#include <string>
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
  /// Names of the features; empty when the file has no header.
  std::vector<std::string> feature_names;
};

/// Reads the header, if there is one, and decides on the columns; leaves the cursor at the first
/// row of values. Throws InputError when there is none.
CsvColumns read_csv_columns(CsvCursor& cursor, const CsvOptions& options);

}  // namespace lloyd
