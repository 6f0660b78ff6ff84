// CsvClassCheck: whether a last column that is taken as classes is one throughout.
#pragma once

#include <cstdint>
#include <string>

#include "data/csv_cursor.hpp"

namespace lloyd {

/// Is given the cells of a last column that nobody called the label column. Decides over all of it,
/// whatever the first rows hold: names are classes; a number, or what looks like one, is an error,
/// as is a column without any name.
class CsvClassCheck {
 public:
  /// `declared` says that quotes make the cell a text, as CsvColumns has it. The cursor is on the
  /// cell's line. Throws InputError.
  void add(const CsvCursor& cursor, std::int64_t column, const CsvCell& cell, bool declared);
  /// At the end of the table. Throws InputError.
  void finish(const CsvCursor& cursor, std::int64_t column) const;

 private:
  [[noreturn]] void fail_first(const CsvCursor& cursor, std::int64_t column,
                               const std::string& why) const;

  bool any_name_ = false;
  std::int64_t first_line_ = 0;  // of the first cell; 0: there was none
  std::string first_text_;
};

}  // namespace lloyd
