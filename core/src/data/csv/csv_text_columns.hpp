// TextColumns: what the digits of a table's first rows show beyond the values of its numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/dataset.hpp>

#include "data/csv/cells/csv_cursor.hpp"
#include "data/csv/csv_columns.hpp"

namespace lloyd {

class TextColumns {
 public:
  /// Inspects the cells of a complete row; `row` is at its start.
  void add(const CsvColumns& columns, CsvCursor row);
  /// One entry per feature; empty if no feature has something to tell.
  std::vector<TextFeature> take() const;

 private:
  struct Column {
    std::string padded;   // the first value with leading zeros
    std::string grouped;  // the first value with three decimals
    std::string integer;  // the first value of up to three digits without a point
    std::int64_t grouped_values = 0;
    bool has_other_form = false;  // a value that is neither of the last two
    bool has_decimals = false;    // one of these has a point
  };
  static void add_value(std::string_view text, Column& column);

  std::vector<Column> columns_;
  bool is_semicolon_ = false;  // such files come from places where decimals have commas
};

}  // namespace lloyd
