#include "data/csv/csv_columns.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/column_argument.hpp>
#include <lloyd/internal/shown.hpp>

#include "data/csv/cells/csv_cell_kind.hpp"
#include "data/csv/cells/named_date.hpp"
#include "data/csv/csv_numeric_header.hpp"
#include "data/csv/csv_quoted_numbers.hpp"
#include "data/csv/csv_refusals.hpp"

namespace lloyd {
namespace {

std::optional<std::int64_t> column_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 0) return std::nullopt;
  return number;
}

struct CsvRow {
  std::vector<CsvCell> cells;
  std::string_view before_last;  // text of the row before its last cell
};

// Reads the cells of the cursor's row. The cursor is a copy, so the caller's does not move.
CsvRow read_row(CsvCursor cursor, std::int64_t max_columns) {
  CsvRow row;
  const std::string_view text = cursor.rest();
  do {
    if (std::ssize(row.cells) == max_columns) {
      throw InputError(fmt::format(
          "{}, line {}: a row has more than {} columns, the maximum that the memory limit allows",
          cursor.file(), cursor.line(), max_columns));
    }
    row.before_last = text.substr(0, text.size() - cursor.bytes_left());
    row.cells.push_back(cursor.take_cell(std::ssize(row.cells)));
  } while (cursor.take_delimiter());
  return row;
}

// True for a number other than NaN.
bool is_value(std::string_view text) {
  return is_number(text) && !is_missing_value(text);
}

bool ends_with_declared_text(const CsvRow& row, char delimiter) {
  return is_declared_text(row.cells.back(), row.before_last, delimiter);
}

// True if the row's last cell may be a class.
bool ends_with_class(const CsvRow& row, char delimiter) {
  return ends_with_declared_text(row, delimiter) || !is_number(row.cells.back().text);
}

// True if the row's last cell is NaN, which may be a missing class or a missing number.
bool ends_with_nan(const CsvRow& row, char delimiter) {
  const std::string_view text = row.cells.back().text;
  return !ends_with_declared_text(row, delimiter) && is_number(text) && is_missing_value(text);
}

void leave_row(CsvCursor& cursor, std::int64_t columns) {
  for (std::int64_t column = 0; column < columns; ++column) {
    cursor.take_cell(column);
    cursor.take_delimiter();
  }
  cursor.next_line();
}

bool names_columns(const CsvOptions& options) {
  const auto is_name = [](const std::string& column) { return !is_integer(column); };
  return std::any_of(options.columns.begin(), options.columns.end(), is_name) ||
         std::any_of(options.drop_columns.begin(), options.drop_columns.end(), is_name) ||
         (!options.label_column.empty() && !is_integer(options.label_column));
}

// The feature columns, unless the last one turns out to be the label column.
std::vector<std::int64_t> feature_columns(std::int64_t count, const CsvOptions& options) {
  std::vector<std::int64_t> columns;
  for (const std::string& column : options.columns) {
    if (const auto i = column_number(column); i && *i < count) columns.push_back(*i);
  }
  if (!columns.empty()) return columns;
  // Evaluated even if the columns are missing: the message lists those that exist.
  const auto label = column_number(options.label_column);
  std::vector<std::optional<std::int64_t>> dropped;
  for (const std::string& column : options.drop_columns) dropped.push_back(column_number(column));
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_dropped = std::find(dropped.begin(), dropped.end(), i) != dropped.end();
    if (i != label && !is_dropped) columns.push_back(i);
  }
  return columns;
}

// True if the last column appears to hold classes, judged by its first cell in this block of text
// that is not NaN, or, if rows with missing values are left out, that is not missing. The cursor is
// at the row `values`.
bool has_classes(CsvCursor cursor, const CsvRow& values, std::int64_t count,
                 std::int64_t max_columns, const CsvOptions& options) {
  const MissingValues missing(options.missing);
  CsvRow row = values;
  while (std::ssize(row.cells) == count) {
    const std::string_view last = row.cells.back().text;
    const bool is_inconclusive =
        missing.has_text(last) ||
        (options.drop_missing ? is_missing_value(last) : ends_with_nan(row, cursor.delimiter()));
    if (!is_inconclusive) {
      if (!is_number(trimmed(last))) return ends_with_class(row, cursor.delimiter());
      return ends_with_declared_text(row, cursor.delimiter()) &&
             !holds_quoted_numbers(cursor, count, missing);
    }
    try {
      leave_row(cursor, count);
      if (!cursor.find_row()) return false;
      row = read_row(cursor, max_columns);
    } catch (const UnclosedQuoteError&) {
      return false;  // the row goes on in the next block
    }
  }
  return false;
}

// Refuses text in several rows above the first numbers, such as a title above the header or units
// below it. The cursor is at the first row, `second` is the row below.
void refuse_titles(CsvCursor cursor, const std::vector<CsvCell>& first,
                   const std::vector<CsvCell>& second, std::int64_t max_columns,
                   const MissingValues& missing) {
  constexpr std::int64_t kMaxTextRows = 20;
  const auto is_name = [&](const CsvCell& cell) {
    return (kind_of_cell(cell.text) == CellKind::name || is_named_date(cell.text)) &&
           !missing.has_text(cell.text);
  };
  const auto is_empty = [](const CsvCell& cell) { return cell.text.empty(); };
  const auto is_filler = [&](const CsvCell& cell) { return is_name(cell) || is_empty(cell); };
  const auto may_be_unit = [&](const CsvCell& cell) {
    // In a row of units, hyphens stand for columns without a unit.
    return is_filler(cell) || cell.text.find_first_not_of('-') == std::string_view::npos;
  };
  const auto has_semicolons = [](const std::vector<CsvCell>& cells) {
    return std::any_of(cells.begin(), cells.end(), [](const CsvCell& cell) {
      return cell.text.find(';') != std::string_view::npos;
    });
  };
  const auto has_number = [](const CsvRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [](const CsvCell& cell) { return is_number(trimmed(cell.text)); });
  };
  if (std::none_of(first.begin(), first.end(), is_name)) return;
  // Spreadsheets fill titles up with empty cells, which in samples may be missing values.
  const bool filled_up =
      !is_empty(first.front()) && std::any_of(first.begin(), first.end(), is_empty);
  const bool second_is_filler = std::all_of(second.begin(), second.end(), is_filler);
  const bool second_is_empty = std::all_of(second.begin(), second.end(), is_empty);
  const bool second_is_text = filled_up ? second_is_filler && is_name(second.front())
                                        : std::all_of(second.begin(), second.end(), is_name);
  // The row below a title may be empty, and units may be missing in some columns: then rows
  // below must confirm it.
  if (!second_is_text && !std::all_of(second.begin(), second.end(), may_be_unit)) return;
  const CsvCursor start = cursor;
  std::int64_t last_line = start.line();
  bool names_follow = false;
  CsvRow row;
  row.cells = first;
  for (std::int64_t rows = 0; rows < kMaxTextRows; ++rows) {
    leave_row(cursor, std::ssize(row.cells));
    if (!cursor.find_row()) return;
    row = read_row(cursor, max_columns);
    if (has_number(row)) {
      bool has_units = false;
      for (std::size_t i = 0; i < std::min(second.size(), row.cells.size()); ++i) {
        has_units = has_units || (is_name(second[i]) && is_number(row.cells[i].text));
      }
      if (!second_is_text && !has_units && !(filled_up && second_is_empty && names_follow)) return;
      const bool is_title = filled_up || first.size() < second.size() ||
                            !std::all_of(first.begin(), first.end(), is_name);
      const std::int64_t from = start.line() + (is_title ? 0 : 1);
      const std::int64_t to = last_line - (is_title ? 1 : 0);
      if (first.front().text.starts_with('#')) {
        start.fail(0, fmt::format("lines {} to {} hold text; lines that begin with '#' are rows "
                                  "too: grep -v '^#' removes them",
                                  start.line(), last_line));
      }
      const std::string message = fmt::format(
          "lines {} to {} hold text; keep the one that names the columns, and remove "
          "the others, such as titles and units: sed {}d removes all but the {}",
          start.line(), last_line,
          from == to ? fmt::format("{}", from) : fmt::format("{},{}", from, to),
          is_title ? "last" : "first");
      if (start.delimiter() != ';' && has_semicolons(first) && has_semicolons(second)) {
        start.fail_for_option(0, message +
                                     "; if ';' separates the cells, set the delimiter option, or "
                                     "the decimal_comma option for cells such as 2,5");
      }
      start.fail(0, message);
    }
    if (rows > 0) names_follow = std::all_of(row.cells.begin(), row.cells.end(), is_name);
    last_line = cursor.line();
  }
}

// Refuses a header whose names are missing values or malformed numbers: it is probably a sample.
void check_names(const CsvCursor& cursor, const std::vector<CsvCell>& first,
                 const std::vector<CsvCell>& second, const std::vector<std::int64_t>& columns,
                 bool drop_missing) {
  const auto may_be_value = [&](std::int64_t i) {
    const CellKind kind = kind_of_cell(first[i].text);
    return !first[i].quoted && (kind == CellKind::missing || kind == CellKind::almost_number);
  };
  // The last cell may be the class of a first sample without values.
  const bool may_have_class = columns.size() > 1 && columns.back() == std::ssize(first) - 1 &&
                              second.size() == first.size() && !is_number(second.back().text);
  const auto end = columns.end() - (may_have_class ? 1 : 0);
  if (columns.empty() || !std::all_of(columns.begin(), end, may_be_value)) return;
  const std::string_view text = first[columns.front()].text;
  const bool is_dropped = drop_missing && is_missing_value(text);
  cursor.fail_for_option(
      columns.front(),
      fmt::format(
          "'{}' is not a number{}; the header option tells whether the row names the columns",
          shown(text), is_dropped ? "" : number_advice(text, cursor.notation()).text));
}

bool has_expected_names(const std::vector<CsvCell>& first, const CsvOptions& options) {
  const auto is_cell = [&](const std::string& name) {
    return std::any_of(first.begin(), first.end(),
                       [&](const CsvCell& cell) { return cell.unquoted() == name; });
  };
  return !options.expected_names.empty() &&
         std::all_of(options.expected_names.begin(), options.expected_names.end(), is_cell);
}

// True if the first row, at which `cursor` is, is a header; `second` is the row after it, at which
// `below` is.
bool looks_like_header(const CsvCursor& cursor, const CsvCursor& below,
                       const std::vector<CsvCell>& first, const std::vector<CsvCell>& second,
                       const CsvOptions& options) {
  if (names_columns(options) || has_expected_names(first, options)) return true;
  if (is_header_above_index(first, below)) return true;
  const auto is_name = [&](std::int64_t i) {
    const CsvCell& cell = first[i];
    return !is_number(trimmed(cell.text)) ||
           (cell.quoted && i < std::ssize(second) && !second[i].quoted);
  };
  const MissingValues missing(options.missing);
  const auto is_text = [&](std::int64_t i) {
    return !first[i].text.empty() && !is_number(trimmed(first[i].text)) &&
           !missing.has_text(first[i].text) &&
           !(options.drop_missing && is_missing_value(first[i].text));
  };
  const std::vector<std::int64_t> columns = feature_columns(std::ssize(first), options);
  if (std::all_of(columns.begin(), columns.end(), is_name)) {
    check_names(cursor, first, second, columns, options.drop_missing);
    return !columns.empty();
  }
  const auto text = std::find_if(columns.begin(), columns.end(), is_text);
  if (text == columns.end()) return false;
  // A text in the last cell may be the first sample's class; then the cell below it is text, too,
  // or NaN.
  const bool last = *text == std::ssize(first) - 1;
  if (last && options.columns.empty() && options.label_column.empty() &&
      (second.size() != first.size() || second.back().quoted || !is_value(second.back().text))) {
    return false;
  }
  if (const std::string advice = delimiter_advice(first[*text].text, cursor.notation());
      !advice.empty()) {
    cursor.fail_for_option(*text,
                           fmt::format("'{}' is not a number{}", shown(first[*text].text), advice));
  }
  cursor.fail_for_option(
      *text, fmt::format("'{}' is not a number, but other cells of the first row are; the "
                         "header option tells whether that row names the columns",
                         shown(first[*text].text)));
}

// Programs that write row numbers leave the name of their column empty. R and pandas quote it if
// they quote all names. Lloyd quotes only names that need it, so an empty name in quotes is meant
// to be empty beside a name without quotes. It is also meant to be empty if all names need their
// quotes and the value below cannot be a row number: R quotes these, pandas writes integers.
void check_first_name(const CsvCursor& values, const std::vector<CsvCell>& names,
                      const CsvCell& below, std::int64_t line) {
  const auto is_empty = [](const CsvCell& cell) { return cell.text.empty(); };
  if (!names.front().text.empty() || std::all_of(names.begin(), names.end(), is_empty)) return;
  const auto is_plain = [](const CsvCell& cell) {
    return !cell.quoted && !needs_quotes(cell.text);
  };
  if (names.front().quoted && std::any_of(names.begin(), names.end(), is_plain)) return;
  const bool all_need_quotes = std::all_of(
      names.begin(), names.end(), [](const CsvCell& cell) { return needs_quotes(cell.text); });
  if (names.front().quoted && all_need_quotes && !below.quoted && is_number(below.text) &&
      !is_integer(below.text)) {
    return;
  }
  std::vector<std::string> texts;
  for (const CsvCell& cell : names) texts.push_back(cell.unquoted());
  values.fail_for_option_at(
      line, 0,
      fmt::format("the column has no name, so it may hold row numbers; list the features with the "
                  "columns option, or leave it out with drop_columns = {{\"{}\"}}",
                  column_argument(texts, 0, 0)));
}

class ColumnFinder {
 public:
  ColumnFinder(const CsvCursor& cursor, const std::vector<std::string>& names, std::int64_t count)
      : cursor_(cursor), names_(names), count_(count) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      ++places_.try_emplace(names[i], i).first->second.times;
    }
  }

  std::int64_t find(const std::string& column) const {
    const auto found = places_.find(column);
    if (found != places_.end()) {
      if (found->second.times > 1) {
        fail(fmt::format("the column name '{}' occurs twice; give its number", shown(column)));
      }
      return static_cast<std::int64_t>(found->second.first);
    }
    const auto number = column_number(column);
    if (number && *number < count_) return *number;
    if (column.empty()) {
      fail(
          fmt::format("a column without a name is chosen, but {}",
                      names_.empty() ? "the file has no column names" : "every column has a name"));
    }
    if (number || names_.empty()) {
      fail(fmt::format("there is no column '{}'; the columns are 0 to {}", shown(column),
                       count_ - 1));
    }
    fail(fmt::format("there is no column '{}'; the columns are {}", shown(column), list()));
  }

  [[noreturn]] void fail(std::string_view message) const {
    throw InputError(fmt::format("{}: {}", cursor_.file(), message));
  }

 private:
  std::string list() const {
    constexpr std::size_t kLimit = 20;
    std::string result;
    for (std::size_t i = 0; i < std::min(names_.size(), kLimit); ++i) {
      result += (i == 0 ? "" : ", ") + shown(names_[i]);
    }
    return names_.size() > kLimit ? result + ", ..." : result;
  }

  const CsvCursor& cursor_;
  const std::vector<std::string>& names_;
  std::int64_t count_;
  struct Place {
    explicit Place(std::size_t first_place) : first(first_place) {}
    std::size_t first;
    int times = 0;
  };
  std::unordered_map<std::string_view, Place> places_;  // by name
};

}  // namespace

bool is_declared_text(const CsvCell& last, std::string_view before, char delimiter) {
  return last.quoted && before.find('"') == std::string_view::npos &&
         (last.text.empty() || last.text.find(delimiter) == std::string_view::npos ||
          kind_of_cell(last.text) == CellKind::name);
}

CsvColumns read_csv_columns(CsvCursor& cursor, const CsvOptions& options,
                            std::int64_t max_columns) {
  if (!cursor.find_row())
    throw InputError(fmt::format("{}: the file holds no rows", cursor.file()));
  const CsvRow first_row = read_row(cursor, max_columns);
  const std::vector<CsvCell>& first = first_row.cells;
  const std::int64_t count = std::ssize(first);
  CsvCursor below = cursor;
  leave_row(below, count);
  const CsvRow second_row = below.find_row() ? read_row(below, max_columns) : CsvRow();
  const std::vector<CsvCell>& second = second_row.cells;
  refuse_other_formats(cursor, first, second);
  refuse_other_delimiter(below, first, second, names_columns(options));
  if (!options.header && !second.empty()) {
    refuse_titles(cursor, first, second, max_columns, MissingValues(options.missing));
  }
  CsvCursor header_row = cursor;
  const std::int64_t header_line = cursor.line();
  if (!options.header && !names_columns(options) && counts_columns(first, second)) {
    cursor.fail_for_option(
        0,
        "the row is 0, 1, 2, ... above values with decimals, so it may name the columns; "
        "the header option tells whether it does");
  }
  const bool header =
      options.header ? *options.header : looks_like_header(cursor, below, first, second, options);
  if (header) {
    if (second.empty())
      throw InputError(fmt::format("{}: no rows follow the header", cursor.file()));
    refuse_undivided_header(cursor, first);
    refuse_row_names(below, first, second);
    cursor = below;
  }
  const CsvRow& values = header ? second_row : first_row;
  std::vector<std::string> names;
  if (header) {
    names.reserve(first.size());
    for (const CsvCell& cell : first) names.push_back(cell.unquoted());
  }
  const ColumnFinder finder(cursor, names, count);

  CsvColumns columns;
  columns.roles.assign(first.size(), CsvColumns::kPassedOver);
  std::vector<bool> dropped(first.size());
  for (const std::string& name : options.drop_columns) {
    const std::int64_t column = finder.find(name);
    if (dropped[column]) finder.fail(fmt::format("column '{}' is dropped twice", shown(name)));
    dropped[column] = true;
  }
  std::optional<std::int64_t> label;
  if (!options.label_column.empty()) {
    label = finder.find(options.label_column);
    if (dropped[*label]) {
      finder.fail(fmt::format("column '{}' cannot both be dropped and hold the classes",
                              shown(options.label_column)));
    }
  } else if (options.columns.empty() && count > 1 && !dropped.back() &&
             has_classes(cursor, values, count, max_columns, options)) {
    label = count - 1;
    columns.label_found = true;
  }
  if (label) columns.roles[*label] = CsvColumns::kLabel;
  columns.has_label = label.has_value();
  columns.label = label.value_or(-1);
  if (label && header) columns.label_name = names[*label];

  if (header && options.columns.empty() && label != 0 && !dropped.front()) {
    check_first_name(cursor, first, second.front(), header_line);
  }
  if (header) columns.feature_names.reserve(first.size());

  const auto add_feature = [&](std::int64_t column) {
    columns.roles[column] = columns.features++;
    if (header) columns.feature_names.push_back(names[column]);
  };
  for (const std::string& name : options.columns) {
    const std::int64_t column = finder.find(name);
    if (columns.roles[column] != CsvColumns::kPassedOver) {
      finder.fail(fmt::format("column '{}' is listed twice", shown(name)));
    }
    add_feature(column);
  }
  if (options.columns.empty()) {
    for (std::int64_t column = 0; column < count; ++column) {
      if (column != label && !dropped[column]) add_feature(column);
    }
  }
  if (columns.features == 0) {
    finder.fail(options.drop_columns.empty()
                    ? "the label column is the only column, so there are no features"
                    : "every column is dropped or the label column, so there are no features");
  }
  for (std::int64_t column = 0; header && column < count; ++column) {
    const CsvCell cell = header_row.take_cell(column);
    if (columns.roles[column] != CsvColumns::kPassedOver)
      header_row.refuse_line_break(cell, column);
    header_row.take_delimiter();
  }
  columns.names = std::move(names);
  columns.dropped = options.drop_columns;
  columns.are_chosen = !options.columns.empty();
  const auto is_column = [&](const std::string& name) {
    return std::count(columns.names.begin(), columns.names.end(), name) == 1;
  };
  if (!columns.are_chosen && std::ssize(options.expected_names) < columns.features &&
      std::all_of(options.expected_names.begin(), options.expected_names.end(), is_column)) {
    columns.expected = options.expected_names;
  }
  columns.missing = options.missing;
  columns.drop_missing = options.drop_missing;
  return columns;
}

}  // namespace lloyd
