#include <charconv>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/csv.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>

#include "data/csv/cells/csv_cell_kind.hpp"
#include "data/csv/cells/csv_cursor.hpp"
#include "data/rows/row_writers.hpp"
#include "data/rows/write_all.hpp"

namespace lloyd {
namespace {

// A digit and a delimiter or line feed.
constexpr std::int64_t kMinCellBytes = 2;

// Buffers text and writes it in large pieces.
class TextWriter {
 public:
  explicit TextWriter(const std::filesystem::path& file, std::int64_t bytes = 0)
      : file_(file, bytes) {}

  template <class T>
  void add_number(T value) {
    char digits[32];  // the longest float64 takes 24
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    text_.append(digits, end);
  }

  void add_cell(const std::string& text) {
    const bool quote = needs_quotes(text);
    if (quote) text_ += '"';
    for (const char c : text) text_.append(quote && c == '"' ? 2 : 1, c);
    if (quote) text_ += '"';
  }

  void add_separator() { text_ += ','; }

  void end_line() {
    constexpr std::size_t kPiece = 1 << 16;
    text_ += '\n';
    if (text_.size() >= kPiece) write();
  }

  void finish() {
    write();
    file_.commit();
  }

 private:
  void write() {
    file_.write(text_);
    text_.clear();
  }

  NewFile file_;
  std::string text_;
};

void add_cells(TextWriter& writer, const std::filesystem::path& file,
               std::span<const std::string> cells) {
  for (std::size_t j = 0; j < cells.size(); ++j) {
    if (cells[j].find_first_of("\r\n") != std::string::npos) {
      throw InputError(fmt::format("{}: a name or class holds a line break", file.string()));
    }
    if (j > 0) writer.add_separator();
    writer.add_cell(cells[j]);
  }
}

// A number above a class in quotes would not be read as a name.
std::string header_of_classes(const std::string& name) {
  return name.empty() || is_number(name) ? "class" : name;
}

class CsvWriter : public RowWriter {
 public:
  CsvWriter(const std::filesystem::path& file, const TableFormat& table)
      : path_(file), table_(table), writer_(file, min_bytes(table, kMinCellBytes)) {
    if (table.feature_names.empty()) return;
    std::vector<std::string> header = table.feature_names;
    if (table.has_classes) header.push_back(header_of_classes(table.class_name));
    add_cells(writer_, path_, header);
    writer_.end_line();
  }

  void write(const void* values, std::int64_t rows, std::span<const std::string> classes) override {
    // Formatted in their own type: a float32 needs fewer digits than the same value in float64.
    if (table_.dtype == DType::float32) {
      write_rows(static_cast<const float*>(values), rows, classes);
    } else {
      write_rows(static_cast<const double*>(values), rows, classes);
    }
  }

  void commit() override { writer_.finish(); }

 private:
  template <class T>
  void write_rows(const T* row, std::int64_t rows, std::span<const std::string> classes) {
    for (std::int64_t i = 0; i < rows; ++i, row += table_.features) {
      for (std::int64_t j = 0; j < table_.features; ++j) {
        if (j > 0) writer_.add_separator();
        writer_.add_number(row[j]);
      }
      if (table_.has_classes) {
        writer_.add_separator();
        add_cells(writer_, path_, classes.subspan(static_cast<std::size_t>(i), 1));
      }
      writer_.end_line();
    }
  }

  std::filesystem::path path_;
  TableFormat table_;
  TextWriter writer_;
};

}  // namespace

std::unique_ptr<RowWriter> create_csv_rows(const std::filesystem::path& file,
                                           const TableFormat& table) {
  return std::make_unique<CsvWriter>(file, table);
}

void write_csv(const std::filesystem::path& file, const Dataset& dataset) {
  CsvWriter writer(file, table_format(dataset));
  write_all(writer, dataset);
}

void write_csv(const std::filesystem::path& file, std::span<const double> values,
               std::int64_t columns, std::span<const std::string> header) {
  if (columns < 1 || std::ssize(values) % columns != 0) {
    throw InputError(fmt::format("{}: {} values are not whole rows of {}", file.string(),
                                 values.size(), format_count(columns, "column")));
  }
  if (!header.empty() && std::ssize(header) != columns) {
    throw InputError(fmt::format("{}: the header names {}; the values have {}", file.string(),
                                 format_count(header.size(), "column"), columns));
  }
  CsvWriter writer(file, {.features = columns,
                          .dtype = DType::float64,
                          .feature_names = {header.begin(), header.end()}});
  writer.write(values.data(), std::ssize(values) / columns, {});
  writer.commit();
}

void write_csv(const std::filesystem::path& file, std::span<const std::int32_t> labels) {
  TextWriter writer(file);
  for (const std::int32_t label : labels) {
    writer.add_number(label);
    writer.end_line();
  }
  writer.finish();
}

}  // namespace lloyd
