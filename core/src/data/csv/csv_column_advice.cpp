#include "data/csv/csv_column_advice.hpp"

#include <algorithm>
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

// What a feature column holds in some rows.
struct ColumnCells {
  std::int64_t numbers = 0;
  std::int64_t texts = 0;
  std::vector<std::string> distinct;  // the first of these texts

  // True if the column has some texts among its numbers, which may stand for missing values.
  bool is_mostly_numbers() const { return texts > 0 && numbers >= 3 && numbers > 3 * texts; }
};

bool is_text(const CsvCell& cell) {
  const CellKind kind = kind_of_cell(cell.text);
  if (kind == CellKind::name || kind == CellKind::quantity) return true;
  return kind == CellKind::almost_number && number_advice(cell.text, false).may_be_text;
}

struct InspectedText {
  std::vector<ColumnCells> columns;  // of the file
  bool has_class = false;            // the first row has a class
};

void inspect_cell(const CsvColumns& columns, const CsvCell& cell, std::int64_t column,
                  bool is_first, InspectedText& found) {
  constexpr std::size_t kMaxDistinct = 6;
  const std::int64_t role = columns.roles[static_cast<std::size_t>(column)];
  ColumnCells& cells = found.columns[static_cast<std::size_t>(column)];
  if (role == CsvColumns::kLabel && is_first) {
    found.has_class = !columns.label_found || !cell.text.empty();
  }
  if (role < 0) return;
  if (is_number(cell.text)) {
    ++cells.numbers;
  } else if (is_text(cell)) {
    ++cells.texts;
    const std::string text = cell.unquoted();
    const bool known =
        std::find(cells.distinct.begin(), cells.distinct.end(), text) != cells.distinct.end();
    if (!known && cells.distinct.size() < kMaxDistinct) cells.distinct.push_back(text);
  }
}

// Inspects the row and the rows below it in its block, up to kMaxCells cells.
InspectedText inspect_text(const CsvColumns& columns, CsvCursor row, std::int64_t rows_above) {
  constexpr std::int64_t kMaxCells = 20'000;
  InspectedText found;
  found.columns.assign(columns.roles.size(), {rows_above, 0, {}});
  const std::int64_t count = std::ssize(columns.roles);
  try {
    for (std::int64_t cells = 0; cells == 0 || cells + count <= kMaxCells; cells += count) {
      for (std::int64_t column = 0; column < count; ++column) {
        inspect_cell(columns, row.take_cell(column), column, cells == 0, found);
        if (!row.take_delimiter()) break;
      }
      if (!row.at_row_end()) break;
      row.next_line();
      if (!row.find_row()) break;
    }
  } catch (const InputError&) {
    // A later row has another fault; what was seen before it suffices.
  }
  return found;
}

// True if the text can stand in messages, and in a shell without quotes.
bool is_plain(const std::string& text) {
  constexpr std::size_t kMaxBytes = 30;
  return !text.empty() && text.size() <= kMaxBytes && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '_' || c == '-' || c == '+' || c == '/';
         });
}

// `drop`: what leaves the column out.
std::string advice_on_rare_texts(const CsvColumns& columns, const ColumnCells& cells,
                                 const std::string& drop) {
  std::vector<std::string> texts = columns.missing;
  texts.insert(texts.end(), cells.distinct.begin(), cells.distinct.end());
  const bool plain = std::all_of(texts.begin(), texts.end(), is_plain);
  const std::string missing = plain
                                  ? fmt::format("missing = {{\"{}\"}}", fmt::join(texts, "\", \""))
                                  : "the missing option";
  return columns.drop_missing
             ? fmt::format("; {} counts such texts as missing and leaves their rows out, {}",
                           missing, drop)
             : fmt::format("; {} with the drop_missing option leaves rows with such texts out, {}",
                           missing, drop);
}

std::string advice_on_text(const CsvColumns& columns, const NumberNeededError& error,
                           const CsvCursor& row, std::int64_t rows_above) {
  constexpr std::size_t kMaxNamed = 10;
  const bool is_name = error.cell() == NumberNeededError::Cell::name;
  if (!columns.expected.empty()) {
    if (!std::all_of(columns.expected.begin(), columns.expected.end(), is_plain)) {
      return "; the columns option chooses the model's features";
    }
    return fmt::format("; columns = {{\"{}\"}} chooses the model's features",
                       fmt::join(columns.expected, "\", \""));
  }
  const InspectedText inspected = inspect_text(columns, row, rows_above);
  const ColumnCells& refused = inspected.columns[static_cast<std::size_t>(error.column())];
  std::vector<std::int64_t> text;
  for (std::int64_t column = 0; column < std::ssize(columns.roles); ++column) {
    const ColumnCells& cells = inspected.columns[static_cast<std::size_t>(column)];
    if (cells.texts > 0 && !cells.is_mostly_numbers()) text.push_back(column);
  }
  if (refused.is_mostly_numbers() && text.empty()) {
    const std::int64_t column = error.column();
    const std::string drop =
        columns.are_chosen
            ? fmt::format("or leave {} out of the columns option", argument_of(columns, column))
            : fmt::format("{} leaves the column out", drop_setting(columns, {&column, 1}));
    return advice_on_rare_texts(columns, refused, drop);
  }
  if (text.empty() || std::ssize(text) == columns.features || text.size() > kMaxNamed) {
    return is_name ? kGenericAdvice : "";
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
        inspected.has_class || !is_name
            ? ""
            : fmt::format(", {} takes it as classes", label_setting(columns, text.front())));
  }
  return fmt::format("; {} leaves the columns of text out{}", drop,
                     inspected.has_class ? "" : ", the label_column option takes one as classes");
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

std::string column_advice(const CsvColumns& columns, const NumberNeededError& error, CsvCursor row,
                          std::int64_t rows) {
  return error.cell() == NumberNeededError::Cell::empty ? advice_on_empty(columns, error.column())
                                                        : advice_on_text(columns, error, row, rows);
}

}  // namespace lloyd
