#include <lloyd/data/csv.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "data/csv_columns.hpp"
#include "data/csv_cursor.hpp"
#include "data/extension.hpp"
#include "data/mapped_file.hpp"
#include "data/shown.hpp"

namespace lloyd {
namespace {

char delimiter_of(const std::filesystem::path& file, const CsvOptions& options) {
  if (!options.delimiter) return small_extension(file) == ".tsv" ? '\t' : ',';
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

template <class T>
class TableReader {
 public:
  TableReader(const CsvCursor& cursor, const CsvColumns& columns)
      : cursor_(cursor), columns_(columns) {}

  Dataset read(std::string name) {
    while (cursor_.find_row()) read_row();
    Dataset dataset(std::move(name), Matrix::own(std::move(values_), rows_, columns_.features));
    dataset.classes = std::move(classes_);
    dataset.feature_names = columns_.feature_names;
    return dataset;
  }

 private:
  void read_row() {
    const CsvCursor start = cursor_;
    const auto width = static_cast<std::size_t>(columns_.features);
    values_.resize(values_.size() + width);
    T* const row = values_.data() + values_.size() - width;
    const std::int64_t count = std::ssize(columns_.roles);
    for (std::int64_t column = 0; column < count; ++column) {
      if (column > 0 && !cursor_.take_delimiter()) fail_length(start, count);
      const std::int64_t role = columns_.roles[column];
      if (role >= 0) {
        row[role] = cursor_.template take_number<T>(column);
      } else {
        const CsvCell cell = cursor_.take_cell(column);
        if (role == CsvColumns::kLabel) classes_.push_back(cell.unquoted());
      }
    }
    if (!cursor_.at_row_end()) fail_length(start, count);
    cursor_.next_line();
    if (rows_++ == 0) reserve(start.bytes_left() - cursor_.bytes_left());
  }

  // Memory for the rows to come, taking them to be about as long as the first.
  void reserve(std::size_t row_bytes) {
    const std::size_t rows = 1 + cursor_.bytes_left() / row_bytes;
    values_.reserve(values_.size() * (rows + rows / 16));
  }

  CsvCursor cursor_;
  const CsvColumns& columns_;
  std::vector<T> values_;
  std::vector<std::string> classes_;
  std::int64_t rows_ = 0;
};

}  // namespace

Dataset read_csv(const std::filesystem::path& file, const CsvOptions& options) {
  const char delimiter = delimiter_of(file, options);
  const MappedFile mapped(file);
  const std::string path = file.string();
  CsvCursor cursor(path, mapped.bytes(), delimiter);
  const CsvColumns columns = read_csv_columns(cursor, options);
  std::string name = file.filename().string();
  return options.dtype == DType::float32
             ? TableReader<float>(cursor, columns).read(std::move(name))
             : TableReader<double>(cursor, columns).read(std::move(name));
}

}  // namespace lloyd
