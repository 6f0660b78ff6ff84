#include <charconv>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/data/csv.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "data/csv_cursor.hpp"

namespace lloyd {
namespace {

// Gathers text and writes it in large pieces.
class TextWriter {
 public:
  explicit TextWriter(const std::filesystem::path& file) : file_(file) {}

  template <class T>
  void add_number(T value) {
    char digits[32];  // the longest float64 takes 24
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    text_.append(digits, end);
  }

  void add_cell(const std::string& text) {
    // Quoted also where blanks at its ends would be lost and where it would be read as a number.
    const bool quote =
        text.empty() || is_number(text) || text.find_first_of(",\" \t") != std::string::npos;
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

// Values with the digits of their own type: a float32 needs fewer than the same value in float64.
template <class T>
void add_rows(TextWriter& writer, const std::filesystem::path& file, const Dataset& dataset) {
  const Matrix& matrix = dataset.matrix();
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    const T* row = static_cast<const T*>(matrix.data) + i * matrix.stride;
    for (std::int64_t j = 0; j < matrix.columns; ++j) {
      if (j > 0) writer.add_separator();
      writer.add_number(row[j]);
    }
    if (!dataset.classes.empty()) {
      writer.add_separator();
      add_cells(writer, file, {&dataset.classes[static_cast<std::size_t>(i)], 1});
    }
    writer.end_line();
  }
}

}  // namespace

void write_csv(const std::filesystem::path& file, const Dataset& dataset) {
  TextWriter writer(file);
  if (!dataset.feature_names.empty()) {
    std::vector<std::string> header = dataset.feature_names;
    if (!dataset.classes.empty()) header.emplace_back("class");
    add_cells(writer, file, header);
    writer.end_line();
  }
  if (dataset.dtype() == DType::float32) {
    add_rows<float>(writer, file, dataset);
  } else {
    add_rows<double>(writer, file, dataset);
  }
  writer.finish();
}

void write_csv(const std::filesystem::path& file, std::span<const double> values,
               std::int64_t columns, std::span<const std::string> header) {
  if (columns < 1 || std::ssize(values) % columns != 0) {
    throw InputError(fmt::format("{}: {} values are no whole rows of {} columns", file.string(),
                                 values.size(), columns));
  }
  if (!header.empty() && std::ssize(header) != columns) {
    throw InputError(fmt::format("{}: the header names {} columns; the values have {}",
                                 file.string(), header.size(), columns));
  }
  TextWriter writer(file);
  if (!header.empty()) {
    add_cells(writer, file, header);
    writer.end_line();
  }
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t i = 0; i < values.size(); i += width) {
    for (std::size_t j = 0; j < width; ++j) {
      if (j > 0) writer.add_separator();
      writer.add_number(values[i + j]);
    }
    writer.end_line();
  }
  writer.finish();
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
