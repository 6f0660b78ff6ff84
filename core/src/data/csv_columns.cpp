#include "data/csv_columns.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "data/shown.hpp"

namespace lloyd {
namespace {

std::optional<std::int64_t> column_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 0) return std::nullopt;
  return number;
}

// The cells of the cursor's row; the cursor, a copy, is not moved.
std::vector<CsvCell> cells_of_row(CsvCursor cursor) {
  std::vector<CsvCell> cells;
  do {
    cells.push_back(cursor.take_cell(std::ssize(cells)));
  } while (cursor.take_delimiter());
  return cells;
}

bool is_quoted(const CsvCell& cell) {
  return cell.quoted;
}

// Whether the row's last cell is a class. A number is one where it alone is quoted.
bool ends_with_class(const std::vector<CsvCell>& row) {
  const CsvCell& last = row.back();
  if (last.quoted && std::none_of(row.begin(), row.end() - 1, is_quoted)) return true;
  return !last.text.empty() && !is_number(last.text);
}

void leave_row(CsvCursor& cursor, std::int64_t columns) {
  for (std::int64_t column = 0; column < columns; ++column) {
    cursor.take_cell(column);
    cursor.take_delimiter();
  }
  cursor.next_line();
}

bool names_columns(const CsvOptions& options) {
  return std::any_of(options.columns.begin(), options.columns.end(),
                     [](const std::string& column) { return !column_number(column); }) ||
         (!options.label_column.empty() && !column_number(options.label_column));
}

// The columns that are features unless the last one turns out to be the label column.
std::vector<std::int64_t> feature_columns(std::int64_t count, const CsvOptions& options) {
  std::vector<std::int64_t> columns;
  for (const std::string& column : options.columns) {
    if (const auto i = *column_number(column); i < count) columns.push_back(i);
  }
  const auto label = column_number(options.label_column);
  for (std::int64_t i = 0; options.columns.empty() && i < count; ++i) {
    if (i != label) columns.push_back(i);
  }
  return columns;
}

// Whether the first row, at which `cursor` is and of which `second` is the next, is a header.
bool looks_like_header(const CsvCursor& cursor, const std::vector<CsvCell>& first,
                       const std::vector<CsvCell>& second, const CsvOptions& options) {
  if (names_columns(options)) return true;
  const auto is_name = [&](std::int64_t i) {
    const CsvCell& cell = first[i];
    return !is_number(cell.text) || (cell.quoted && i < std::ssize(second) && !second[i].quoted);
  };
  const auto is_text = [&](std::int64_t i) {
    return !first[i].text.empty() && !is_number(first[i].text);
  };
  const std::vector<std::int64_t> columns = feature_columns(std::ssize(first), options);
  if (std::all_of(columns.begin(), columns.end(), is_name)) return !columns.empty();
  const auto text = std::find_if(columns.begin(), columns.end(), is_text);
  if (text == columns.end()) return false;
  // A last cell that is text may be the first sample's class; then so is the one below it.
  const bool last = *text == std::ssize(first) - 1;
  if (last && options.columns.empty() && options.label_column.empty() &&
      (second.size() != first.size() || second.back().quoted || !is_number(second.back().text))) {
    return false;
  }
  cursor.fail(*text, fmt::format("'{}' is not a number, but other cells of the first row are; the "
                                 "header option can say whether that row names the columns",
                                 shown(first[*text].text)));
}

class ColumnFinder {
 public:
  ColumnFinder(const CsvCursor& cursor, const std::vector<std::string>& names, std::int64_t count)
      : cursor_(cursor), names_(names), count_(count) {}

  std::int64_t find(const std::string& column) const {
    const auto found = std::find(names_.begin(), names_.end(), column);
    if (found != names_.end()) {
      if (std::find(found + 1, names_.end(), column) != names_.end()) {
        fail(fmt::format("the column name '{}' occurs twice; give its number", shown(column)));
      }
      return found - names_.begin();
    }
    const auto number = column_number(column);
    if (number && *number < count_) return *number;
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
};

}  // namespace

CsvColumns read_csv_columns(CsvCursor& cursor, const CsvOptions& options) {
  if (!cursor.find_row())
    throw InputError(fmt::format("{}: the file holds no rows", cursor.file()));
  const std::vector<CsvCell> first = cells_of_row(cursor);
  const std::int64_t count = std::ssize(first);
  CsvCursor below = cursor;
  leave_row(below, count);
  const std::vector<CsvCell> second =
      below.find_row() ? cells_of_row(below) : std::vector<CsvCell>();
  if (first.front().text.starts_with('#') && !second.empty() && first.size() != second.size()) {
    cursor.fail(0,
                "the line has other columns than the next; lines that begin with '#' are rows "
                "too");
  }

  const bool header =
      options.header ? *options.header : looks_like_header(cursor, first, second, options);
  if (header) {
    if (second.empty())
      throw InputError(fmt::format("{}: no rows follow the header", cursor.file()));
    cursor = below;
  }
  const std::vector<CsvCell>& values = header ? second : first;
  std::vector<std::string> names;
  if (header) {
    for (const CsvCell& cell : first) names.push_back(cell.unquoted());
  }
  const ColumnFinder finder(cursor, names, count);

  CsvColumns columns;
  columns.roles.assign(first.size(), CsvColumns::kPassedOver);
  std::optional<std::int64_t> label;
  if (!options.label_column.empty()) {
    label = finder.find(options.label_column);
  } else if (options.columns.empty() && count > 1 && std::ssize(values) == count &&
             ends_with_class(values)) {
    label = count - 1;
  }
  if (label) columns.roles[*label] = CsvColumns::kLabel;
  columns.has_label = label.has_value();

  const auto add_feature = [&](std::int64_t column) {
    columns.roles[column] = columns.features++;
    if (header) columns.feature_names.push_back(names[column]);
  };
  for (const std::string& name : options.columns) {
    const std::int64_t column = finder.find(name);
    if (columns.roles[column] != CsvColumns::kPassedOver) {
      finder.fail(fmt::format("column '{}' is asked for twice", shown(name)));
    }
    add_feature(column);
  }
  if (options.columns.empty()) {
    for (std::int64_t column = 0; column < count; ++column) {
      if (column != label) add_feature(column);
    }
  }
  if (columns.features == 0) finder.fail("beside the label column there is none to cluster");
  return columns;
}

}  // namespace lloyd
