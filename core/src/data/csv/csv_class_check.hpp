// CsvClassCheck: checks that a last column that is taken as classes holds classes throughout.
#pragma once

#include <cstdint>
#include <string>

#include "data/csv/csv_cursor.hpp"

namespace lloyd {

/// Receives all cells of a last column that was not declared as the label column. Names are
/// classes; a number, a text that looks like one, and a column without any name are errors,
/// whatever the first rows hold.
class CsvClassCheck {
 public:
  /// `declared`: the quotes of the cell mark it as text, see is_declared_text(). The cursor is on
  /// the cell's line. Throws InputError.
  void add(const CsvCursor& cursor, std::int64_t column, const CsvCell& cell, bool declared);
  /// Call it at the end of the table. Throws InputError.
  void finish(const CsvCursor& cursor, std::int64_t column) const;

 private:
  [[noreturn]] void fail_first(const CsvCursor& cursor, std::int64_t column,
                               const std::string& why) const;

  bool any_name_ = false;
  bool all_empty_ = true;
  std::int64_t first_line_ = 0;  // line of the first cell; 0: no cell yet
  std::string first_text_;
};

}  // namespace lloyd
