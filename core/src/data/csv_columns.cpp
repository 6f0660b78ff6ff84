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
std::vector<std::string> cells_of_row(CsvCursor cursor) {
  std::vector<std::string> cells;
  do {
    cells.push_back(cursor.take_cell(std::ssize(cells)).unquoted());
  } while (cursor.take_delimiter());
  return cells;
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

// Whether the first row, of which `second` is the next, is a header.
bool looks_like_header(const std::vector<std::string>& first,
                       const std::vector<std::string>& second, const CsvOptions& options) {
  if (names_columns(options)) return true;
  if (!options.columns.empty()) {
    return std::any_of(options.columns.begin(), options.columns.end(),
                       [&](const std::string& column) {
                         const auto i = static_cast<std::size_t>(*column_number(column));
                         return i < first.size() && !is_number(first[i]);
                       });
  }
  const std::int64_t last = std::ssize(first) - 1;
  const auto label =
      options.label_column.empty() ? std::nullopt : column_number(options.label_column);
  for (std::int64_t i = 0; i <= last; ++i) {
    if (i == label || is_number(first[i])) continue;
    // A last cell that is no number may be the first sample's class; then so is the one below it.
    if (i < last || i == 0 || label) return true;
    return !first[i].empty() && !second.empty() && is_number(second.back());
  }
  return false;
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
  const std::vector<std::string> first = cells_of_row(cursor);
  const std::int64_t count = std::ssize(first);
  CsvCursor below = cursor;
  leave_row(below, count);
  const std::vector<std::string> second =
      below.find_row() ? cells_of_row(below) : std::vector<std::string>();

  const bool header = options.header.value_or(looks_like_header(first, second, options));
  if (header) {
    if (second.empty())
      throw InputError(fmt::format("{}: no rows follow the header", cursor.file()));
    cursor = below;
  }
  const std::vector<std::string>& values = header ? second : first;
  const std::vector<std::string> names = header ? first : std::vector<std::string>();
  const ColumnFinder finder(cursor, names, count);

  CsvColumns columns;
  columns.roles.assign(first.size(), CsvColumns::kPassedOver);
  std::optional<std::int64_t> label;
  if (!options.label_column.empty()) {
    label = finder.find(options.label_column);
  } else if (options.columns.empty() && count > 1 && std::ssize(values) == count &&
             !values.back().empty() && !is_number(values.back())) {
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
