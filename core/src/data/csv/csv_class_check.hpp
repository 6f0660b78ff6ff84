// CsvClassCheck: checks that a last column that is taken as classes holds classes throughout.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "data/csv/cells/csv_cursor.hpp"

namespace lloyd {

/// Receives all cells of a last column that was not declared as the label column. Names are
/// classes; a number, a text that looks like one, and a column without any name are errors,
/// whatever the first rows hold.
class CsvClassCheck {
 public:
  CsvClassCheck() = default;
  /// For messages: the options that leave the column out and that take it as classes.
  CsvClassCheck(std::string drop_setting, std::string label_setting)
      : drop_setting_(std::move(drop_setting)), label_setting_(std::move(label_setting)) {}

  /// `declared`: the quotes of the cell mark it as text, see is_declared_text(). The cursor is on
  /// the cell's line. Throws InputError.
  void add(const CsvCursor& cursor, std::int64_t column, const CsvCell& cell, bool declared);
  /// Call it at the end of the table. Throws InputError.
  void finish(const CsvCursor& cursor, std::int64_t column) const;

 private:
  [[noreturn]] void fail_first(const CsvCursor& cursor, std::int64_t column,
                               const std::string& why) const;

  std::string way_out() const {
    return "; " + drop_setting_ + " leaves the column out, " + label_setting_ +
           " takes it as classes";
  }

  std::string drop_setting_;
  std::string label_setting_;
  bool any_name_ = false;
  bool all_empty_ = true;
  bool is_quoted_number_ = false;  // the first cell
  std::int64_t first_line_ = 0;    // line of the first cell; 0: no cell yet
  std::string first_text_;
};

}  // namespace lloyd
