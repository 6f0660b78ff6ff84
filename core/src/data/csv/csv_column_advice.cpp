#include "data/csv/csv_column_advice.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/internal/column_argument.hpp>
#include <lloyd/internal/shown.hpp>

#include "data/csv/cells/csv_cell_kind.hpp"

namespace lloyd {
namespace {

// The columns option excludes the drop_columns option.
const char* generic_advice(const CsvColumns& columns) {
  return columns.are_chosen
             ? "; the columns option chooses the columns that are numbers, the label_column option "
               "takes one as classes"
             : "; the columns option chooses the columns that are numbers, the drop_columns option "
               "leaves some out, the label_column option takes one as classes";
}

std::string argument_of(const CsvColumns& columns, std::int64_t column) {
  return column_argument(columns.names, static_cast<std::size_t>(column), column);
}

// What a feature column holds in some rows.
struct ColumnCells {
  std::int64_t numbers = 0;
  std::int64_t texts = 0;
  std::int64_t odd = 0;  // neither numbers nor texts, as <0.5
  std::int64_t empty = 0;
  std::int64_t others = 0;            // markers of missing values, and numbers in other notations
  std::vector<std::string> distinct;  // the first of the texts and odd cells

  // True if the column has some texts among its numbers, which may stand for missing values.
  bool is_mostly_numbers() const {
    const std::int64_t refused = texts + odd;
    return refused > 0 && numbers >= 3 && numbers > 3 * refused;
  }
  // True if at least two rows were inspected, and none has a value.
  bool is_empty() const { return empty > 1 && numbers + texts + odd + others == 0; }
};

bool is_text(const CsvCell& cell) {
  const CellKind kind = kind_of_cell(cell.text);
  if (kind == CellKind::name || kind == CellKind::quantity) return true;
  return kind == CellKind::almost_number && number_advice(cell.text, {}).may_be_text;
}

// True for digits and signs that are no number and for which there is no advice.
bool is_odd(const CsvCell& cell) {
  return kind_of_cell(cell.text) == CellKind::almost_number &&
         number_advice(cell.text, {}).text.empty();
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
  if (role == CsvColumns::kLabel && columns.label_found) {
    ++(cell.text.empty() ? cells.empty : cells.others);
  }
  if (role < 0) return;
  if (is_number(trimmed(cell.text))) {
    ++cells.numbers;
  } else if (const bool text_cell = is_text(cell); text_cell || is_odd(cell)) {
    ++(text_cell ? cells.texts : cells.odd);
    const std::string text = cell.unquoted();
    const bool known =
        std::find(cells.distinct.begin(), cells.distinct.end(), text) != cells.distinct.end();
    if (!known && cells.distinct.size() < kMaxDistinct) cells.distinct.push_back(text);
  } else if (cell.text.empty()) {
    ++cells.empty;
  } else {
    ++cells.others;
  }
}

// Inspects the row and the rows below it in its block, up to kMaxCells cells.
InspectedText inspect_text(const CsvColumns& columns, CsvCursor row, std::int64_t rows_above) {
  constexpr std::int64_t kMaxCells = 20'000;
  InspectedText found;
  found.columns.assign(columns.roles.size(), {.numbers = rows_above, .distinct = {}});
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

// `drop`: what leaves the column out.
std::string advice_on_rare_texts(const CsvColumns& columns, const ColumnCells& cells,
                                 const std::string& drop) {
  std::vector<std::string> texts = columns.missing;
  texts.insert(texts.end(), cells.distinct.begin(), cells.distinct.end());
  const bool plain = std::all_of(texts.begin(), texts.end(), is_list_element);
  const std::string missing = plain
                                  ? fmt::format("missing = {{\"{}\"}}", fmt::join(texts, "\", \""))
                                  : "the missing option";
  return columns.drop_missing
             ? fmt::format("; {} counts such texts as missing and leaves their rows out, {}",
                           missing, drop)
             : fmt::format("; {} with the drop_missing option leaves rows with such texts out, {}",
                           missing, drop);
}

// What the cells of the row at `row` tell about the row as a whole.
struct RowShape {
  bool repeats_header = false;
  bool has_single_cell = false;  // all cells but one are empty
};

RowShape shape_of(const CsvColumns& columns, CsvCursor row) {
  const std::int64_t count = std::ssize(columns.roles);
  std::int64_t filled = 0;
  bool repeats = !columns.names.empty();
  for (std::int64_t column = 0; column < count; ++column) {
    const std::string text = row.take_cell(column).unquoted();
    repeats = repeats && text == columns.names[static_cast<std::size_t>(column)];
    filled += text.empty() ? 0 : 1;
    if (!row.take_delimiter()) break;
  }
  return {repeats, count > 1 && filled == 1};
}

// "yes and no" if these are the values of the column; empty for other columns.
std::string truth_values(const ColumnCells& cells) {
  constexpr std::array<std::array<std::string_view, 2>, 5> kPairs = {
      {{"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"on", "off"}}};
  if (cells.numbers + cells.others > 0 || cells.distinct.empty()) return {};
  for (const auto& pair : kPairs) {
    std::array<std::string, 2> found = {std::string(pair[0]), std::string(pair[1])};
    const auto is_one = [&](const std::string& text) {
      std::string lower = text;
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      for (std::size_t i = 0; i < pair.size(); ++i) {
        if (lower != pair[i]) continue;
        found[i] = text;
        return true;
      }
      return false;
    };
    if (std::all_of(cells.distinct.begin(), cells.distinct.end(), is_one)) {
      return fmt::format("{} and {}", found[0], found[1]);
    }
  }
  return {};
}

std::string advice_on_text(const CsvColumns& columns, const NumberNeededError& error,
                           const CsvCursor& row, std::int64_t rows_above) {
  constexpr std::size_t kMaxNamed = 10;
  constexpr std::int64_t kMinRows = 3;  // above a footer
  const bool is_name = error.cell() == NumberNeededError::Cell::name;
  if (!columns.expected.empty()) {
    if (!std::all_of(columns.expected.begin(), columns.expected.end(), is_list_element)) {
      return "; the columns option chooses the model's features";
    }
    return fmt::format("; columns = {{\"{}\"}} chooses the model's features",
                       fmt::join(columns.expected, "\", \""));
  }
  const RowShape shape = shape_of(columns, row);
  if (shape.repeats_header) {
    return "; the row repeats the header: awk 'NR == 1 {h = $0} NR == 1 || $0 != h' removes such "
           "lines";
  }
  if (shape.has_single_cell && is_name && rows_above >= kMinRows) {
    return fmt::format(
        "; the other cells of the row are empty: if it is no sample, sed {}d removes "
        "the line",
        row.line());
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
    const std::string drop = columns.are_chosen ? "or " + choice_without(columns, column)
                                                : fmt::format("{} leaves the column out",
                                                              drop_setting(columns, {&column, 1}));
    return advice_on_rare_texts(columns, refused, drop);
  }
  if (text.empty() || std::ssize(text) == columns.features || text.size() > kMaxNamed) {
    return is_name ? generic_advice(columns) : "";
  }
  if (columns.are_chosen) {
    std::vector<std::string> names;
    for (const std::int64_t column : text) names.push_back(argument_of(columns, column));
    return fmt::format("; leave {} out of the columns option", enumerated(names, "and"));
  }
  const std::string drop = drop_setting(columns, text);
  if (text.size() == 1) {
    const std::string truth = truth_values(refused);
    return fmt::format(
        "{}; {} leaves the column out{}",
        truth.empty() ? "" : fmt::format("; write 1 and 0 for {}", truth), drop,
        inspected.has_class || !is_name
            ? ""
            : fmt::format(", {} takes it as classes", label_setting(columns, text.front())));
  }
  return fmt::format("; {} leaves the columns of text out{}", drop,
                     inspected.has_class ? "" : ", the label_column option takes one as classes");
}

std::string advice_on_empty(const CsvColumns& columns, std::int64_t column, const CsvCursor& row,
                            std::int64_t rows_above) {
  const InspectedText inspected = inspect_text(columns, row, rows_above);
  std::vector<std::int64_t> empty;
  for (std::int64_t i = 0; i < std::ssize(columns.roles); ++i) {
    if (inspected.columns[static_cast<std::size_t>(i)].is_empty()) empty.push_back(i);
  }
  const bool ends_lines = column == std::ssize(columns.roles) - 1;
  if (ends_lines && empty.size() < 2 && !columns.names.empty() && columns.names.back().empty()) {
    return fmt::format("; the column has no name, as when every line ends with a delimiter; {}",
                       columns.are_chosen
                           ? choice_without(columns, column)
                           : fmt::format("{} leaves it out", drop_setting(columns, {&column, 1})));
  }
  if (columns.are_chosen || std::find(empty.begin(), empty.end(), column) == empty.end()) {
    return "; the drop_missing option leaves such rows out";
  }
  return empty.size() == 1 ? fmt::format("; {} leaves the column out, which has no values",
                                         drop_setting(columns, empty))
                           : fmt::format("; {} leaves out the columns that have no values",
                                         drop_setting(columns, empty));
}

std::string advice_on_infinity(const CsvColumns& columns, CsvCursor row, std::int64_t column) {
  for (std::int64_t i = 0; i < column; ++i) {
    row.take_cell(i);
    row.take_delimiter();
  }
  std::vector<std::string> texts = columns.missing;
  texts.push_back(row.take_cell(column).unquoted());
  if (!std::all_of(texts.begin(), texts.end(), is_list_element)) return {};
  return fmt::format("; missing = {{\"{}\"}}{} leaves such rows out", fmt::join(texts, "\", \""),
                     columns.drop_missing ? "" : " with the drop_missing option");
}

}  // namespace

std::string drop_setting(const CsvColumns& columns, std::span<const std::int64_t> dropped) {
  std::vector<std::string> arguments = columns.dropped;
  for (const std::int64_t column : dropped) arguments.push_back(argument_of(columns, column));
  return fmt::format("drop_columns = {{\"{}\"}}", fmt::join(arguments, "\", \""));
}

std::string choice_without(const CsvColumns& columns, std::int64_t column) {
  return fmt::format("leave {} out of the columns option", argument_of(columns, column));
}

std::string label_setting(const CsvColumns& columns, std::int64_t column) {
  return fmt::format("label_column = \"{}\"", argument_of(columns, column));
}

std::string column_advice(const CsvColumns& columns, const NumberNeededError& error, CsvCursor row,
                          std::int64_t rows) {
  switch (error.cell()) {
    case NumberNeededError::Cell::empty:
      return advice_on_empty(columns, error.column(), row, rows);
    case NumberNeededError::Cell::infinite:
      return advice_on_infinity(columns, row, error.column());
    default:
      return advice_on_text(columns, error, row, rows);
  }
}

}  // namespace lloyd
