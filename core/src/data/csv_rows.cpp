#include "data/csv_rows.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>

#include "data/shown.hpp"

namespace lloyd {
namespace {

char delimiter_of(const std::filesystem::path& file, const CsvOptions& options) {
  if (!options.delimiter) return small_extension(file).starts_with(".tsv") ? '\t' : ',';
  const char c = *options.delimiter;
  // What numbers, quotes and lines are made of cannot part cells.
  constexpr std::string_view kRefused("\0\r\n\"+-.", 7);
  const bool alphanumeric =
      (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (alphanumeric || kRefused.find(c) != std::string_view::npos) {
    throw InputError(
        fmt::format("{}: '{}' cannot be the delimiter; a comma, semicolon, tab, blank "
                    "or another sign can",
                    file.string(), shown({&c, 1})));
  }
  return c;
}

// `row` is at the start of the row that ends too soon or too late.
[[noreturn]] void fail_length(CsvCursor row, std::int64_t expected) {
  std::int64_t count = 0;
  do {
    row.take_cell(count++);
  } while (row.take_delimiter());
  row.fail(std::min(count, expected),
           fmt::format("the row has {} columns; the first row has {}", count, expected));
}

// Whether the cursor, a copy, has two rows before it.
bool has_two_rows(CsvCursor cursor) {
  if (!cursor.find_row()) return false;
  std::int64_t column = 0;
  do {
    cursor.take_cell(column++);
  } while (cursor.take_delimiter());
  cursor.next_line();
  return cursor.find_row();
}

}  // namespace

CsvRows::CsvRows(const std::filesystem::path& file, const CsvOptions& options)
    : blocks_(file),
      block_(blocks_.next()),
      cursor_(blocks_.path(), block_, delimiter_of(file, options)) {
  // What the first row is, the second tells.
  bool more = find_row();
  while (more && !has_two_rows(cursor_)) {
    const std::size_t size = block_.size();
    const std::size_t parsed = size - cursor_.bytes_left();
    block_ = blocks_.extend();
    cursor_.continue_with(block_.substr(parsed));
    more = block_.size() > size;
  }
  columns_ = read_csv_columns(cursor_, options);
}

// The next line that holds more than blanks, in this block or those that follow.
bool CsvRows::find_row() {
  while (!cursor_.find_row()) {
    block_ = blocks_.next();
    if (block_.empty()) return false;
    cursor_.continue_with(block_);
  }
  return true;
}

std::optional<std::int64_t> CsvRows::estimated_rows() const {
  const std::optional<std::int64_t> behind = blocks_.bytes_left();
  if (!behind || rows_ == 0) return std::nullopt;
  const std::int64_t left = *behind + static_cast<std::int64_t>(cursor_.bytes_left());
  return rows_ + 1 + left / first_row_bytes_;
}

template <class T>
std::int64_t CsvRows::read(std::int64_t most, std::vector<T>& values,
                           std::vector<std::string>& classes) {
  std::int64_t rows = 0;
  for (; rows < most && find_row(); ++rows) read_row(values, classes);
  return rows;
}

template <class T>
void CsvRows::read_row(std::vector<T>& values, std::vector<std::string>& classes) {
  const CsvCursor start = cursor_;
  const auto width = static_cast<std::size_t>(columns_.features);
  values.resize(values.size() + width);
  T* const row = values.data() + values.size() - width;
  const std::int64_t count = std::ssize(columns_.roles);
  for (std::int64_t column = 0; column < count; ++column) {
    if (column > 0 && !cursor_.take_delimiter()) fail_length(start, count);
    const std::int64_t role = columns_.roles[static_cast<std::size_t>(column)];
    if (role >= 0) {
      row[role] = cursor_.template take_number<T>(column);
    } else {
      const CsvCell cell = cursor_.take_cell(column);
      if (role == CsvColumns::kLabel) classes.push_back(cell.unquoted());
    }
  }
  if (!cursor_.at_row_end()) fail_length(start, count);
  cursor_.next_line();
  if (rows_++ == 0) {
    first_row_bytes_ = static_cast<std::int64_t>(start.bytes_left() - cursor_.bytes_left());
  }
}

template std::int64_t CsvRows::read<float>(std::int64_t, std::vector<float>&,
                                           std::vector<std::string>&);
template std::int64_t CsvRows::read<double>(std::int64_t, std::vector<double>&,
                                            std::vector<std::string>&);

}  // namespace lloyd
