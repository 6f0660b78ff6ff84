#include "data/csv/csv_class_check.hpp"

#include <string_view>

#include <fmt/format.h>

#include <lloyd/internal/shown.hpp>

#include "data/csv/cells/csv_cell_kind.hpp"

namespace lloyd {
void CsvClassCheck::add(const CsvCursor& cursor, std::int64_t column, const CsvCell& cell,
                        bool declared) {
  const CellKind kind = declared ? CellKind::name : kind_of_cell(cell.text);
  all_empty_ = all_empty_ && cell.text.empty();
  if (first_line_ == 0) {
    first_line_ = cursor.line();
    is_quoted_number_ = declared && is_number(trimmed(cell.text));
    first_text_ = cell.text.substr(0, 100);  // messages show no more
  }
  if (kind == CellKind::name) {
    any_name_ = true;
  } else if (kind == CellKind::number) {
    fail_first(cursor, column,
               fmt::format(", as '{}' in line {} is", shown(cell.text), cursor.line()));
  } else if (kind == CellKind::almost_number) {
    cursor.refuse_point(cell.text, column);
    cursor.fail_for_option(
        column, fmt::format("'{}' is not a number{}{}", shown(cell.text),
                            number_advice(cell.text, cursor.notation()).text, way_out()));
  }
}

void CsvClassCheck::finish(const CsvCursor& cursor, std::int64_t column) const {
  if (first_line_ > 0 && !any_name_) fail_first(cursor, column, "");
}

void CsvClassCheck::fail_first(const CsvCursor& cursor, std::int64_t column,
                               const std::string& why) const {
  if (all_empty_) {
    cursor.fail_for_option_at(
        first_line_, column,
        fmt::format("all cells of the last column are empty: a delimiter at the end of every line "
                    "begins another column, as in pandas and R; {} leaves it out",
                    drop_setting_));
  }
  if (first_text_.empty()) {
    cursor.fail_for_option_at(
        first_line_, column,
        fmt::format("the cell is empty; a number is needed{}; the drop_missing option leaves such "
                    "rows out",
                    why));
  }
  if (is_quoted_number_) {
    cursor.fail_for_option_at(
        first_line_, column,
        fmt::format(
            "'{}' is not a number because of its quotes{}; the columns option reads both as "
            "numbers{}",
            shown(first_text_), why, way_out()));
  }
  cursor.fail_for_option_at(
      first_line_, column,
      fmt::format("'{}' is not a number{}{}{}", shown(first_text_), why,
                  number_advice(first_text_, cursor.notation()).text, way_out()));
}

}  // namespace lloyd
