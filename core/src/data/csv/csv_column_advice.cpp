#include "data/csv/csv_column_advice.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/internal/column_argument.hpp>
#include <lloyd/internal/shown.hpp>

#include "data/csv/csv_cell_kind.hpp"

namespace lloyd {
namespace {

constexpr const char* kGenericAdvice =
    "; the columns option chooses the columns that are numbers, the drop_columns option leaves "
    "some out, the label_column option takes one as classes";

std::string argument_of(const CsvColumns& columns, std::int64_t column) {
  return column_argument(columns.names, static_cast<std::size_t>(column), column);
}

// The columns of a row that hold text in place of numbers.
struct TextColumns {
  std::vector<std::int64_t> columns;
  bool has_class = false;  // the row has a class
};

TextColumns text_columns(const CsvColumns& columns, CsvCursor row) {
  TextColumns found;
  for (std::int64_t column = 0; column < std::ssize(columns.roles); ++column) {
    const std::int64_t role = columns.roles[static_cast<std::size_t>(column)];
    const CsvCell cell = row.take_cell(column);
    if (role >= 0 && kind_of_cell(cell.text) == CellKind::name) found.columns.push_back(column);
    if (role == CsvColumns::kLabel) found.has_class = !columns.label_found || !cell.text.empty();
    if (!row.take_delimiter()) break;
  }
  return found;
}

std::string advice_on_text(const CsvColumns& columns, const CsvCursor& row) {
  constexpr std::size_t kMaxNamed = 10;
  const auto [text, has_class] = text_columns(columns, row);
  if (text.empty() || std::ssize(text) == columns.features || text.size() > kMaxNamed) {
    return kGenericAdvice;
  }
  if (columns.are_chosen) {
    std::vector<std::string> names;
    for (const std::int64_t column : text) names.push_back(argument_of(columns, column));
    return fmt::format("; leave {} out of the columns option", enumerated(names, "and"));
  }
  const std::string drop = drop_setting(columns, text);
  if (text.size() == 1) {
    return fmt::format(
        "; {} leaves the column out{}", drop,
        has_class ? ""
                  : fmt::format(", {} takes it as classes", label_setting(columns, text.front())));
  }
  return fmt::format("; {} leaves the columns of text out{}", drop,
                     has_class ? "" : ", the label_column option takes one as classes");
}

std::string advice_on_empty(const CsvColumns& columns, std::int64_t column) {
  const bool ends_lines = column == std::ssize(columns.roles) - 1;
  if (!ends_lines || columns.names.empty() || !columns.names.back().empty()) {
    return "; the drop_missing option leaves such rows out";
  }
  return fmt::format(
      "; the column has no name, as when every line ends with a delimiter; {} leaves it out",
      drop_setting(columns, {&column, 1}));
}

}  // namespace

std::string drop_setting(const CsvColumns& columns, std::span<const std::int64_t> dropped) {
  std::vector<std::string> arguments = columns.dropped;
  for (const std::int64_t column : dropped) arguments.push_back(argument_of(columns, column));
  return fmt::format("drop_columns = {{\"{}\"}}", fmt::join(arguments, "\", \""));
}

std::string label_setting(const CsvColumns& columns, std::int64_t column) {
  return fmt::format("label_column = \"{}\"", argument_of(columns, column));
}

std::string column_advice(const CsvColumns& columns, const NumberNeededError& error,
                          CsvCursor row) {
  return error.is_empty() ? advice_on_empty(columns, error.column()) : advice_on_text(columns, row);
}

}  // namespace lloyd
