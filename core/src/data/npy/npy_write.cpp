#include <bit>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/data/new_file.hpp>
#include <lloyd/data/npy.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>

#include "data/rows/row_writers.hpp"

namespace lloyd {
namespace {

// The header, which has 128 bytes for every shape. `type` is NumPy's type without the byte order,
// `shape` a Python tuple.
std::string header(std::string_view type, std::string_view shape) {
  const char order = std::endian::native == std::endian::little ? '<' : '>';
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", order, type, shape);
  constexpr std::size_t kPrefix = 10;  // magic, version and length
  constexpr std::size_t kSize = 128;   // the format requires a multiple of 64
  text.append(kSize - kPrefix - 1 - text.size(), ' ');
  text += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(text.size() & 0xff);
  bytes += static_cast<char>(text.size() >> 8);
  return bytes + text;
}

std::string_view bytes_of(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

class NpyWriter : public RowWriter {
 public:
  NpyWriter(const std::filesystem::path& file, const TableFormat& table)
      : file_(file, min_bytes(table, size_of(table.dtype))),
        features_(table.features),
        dtype_(table.dtype) {
    write_header();
  }

  void write(const void* values, std::int64_t rows, std::span<const std::string>) override {
    file_.write(bytes_of(values, static_cast<std::size_t>(rows * features_ * size_of(dtype_))));
    rows_ += rows;
  }

  void commit() override {
    write_header();
    file_.commit();
  }

 private:
  // Written twice: first as a placeholder while the number of rows is unknown.
  void write_header() {
    file_.write_at(0, header(dtype_ == DType::float32 ? "f4" : "f8",
                             fmt::format("({}, {})", rows_, features_)));
  }

  NewFile file_;
  std::int64_t features_;
  DType dtype_;
  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RowWriter> create_npy_rows(const std::filesystem::path& file,
                                           const TableFormat& table) {
  return std::make_unique<NpyWriter>(file, table);
}

void write_npy(const std::filesystem::path& file, const Matrix& matrix) {
  NpyWriter writer(file, {.features = matrix.columns, .dtype = matrix.dtype, .rows = matrix.rows});
  const std::int64_t step = matrix.stride * size_of(matrix.dtype);
  const char* row = static_cast<const char*>(matrix.data);
  const bool contiguous = matrix.stride == matrix.columns;
  const std::int64_t rows = contiguous ? matrix.rows : 1;  // per call
  for (std::int64_t i = 0; i < matrix.rows; i += rows) writer.write(row + i * step, rows, {});
  writer.commit();
}

void write_npy(const std::filesystem::path& file, std::span<const double> values,
               std::int64_t columns) {
  if (columns < 1 || std::ssize(values) % columns != 0) {
    throw InputError(fmt::format("{}: {} values are not whole rows of {}", file.string(),
                                 values.size(), format_count(columns, "column")));
  }
  NpyWriter writer(file, {.features = columns, .dtype = DType::float64});
  writer.write(values.data(), std::ssize(values) / columns, {});
  writer.commit();
}

std::string npy_labels_header(std::int64_t labels) {
  return header("i4", fmt::format("({},)", labels));
}

void write_npy(const std::filesystem::path& file, std::span<const double> values) {
  NewFile output(file);
  output.write(header("f8", fmt::format("({},)", values.size())));
  output.write(bytes_of(values.data(), values.size_bytes()));
  output.commit();
}

void write_npy(const std::filesystem::path& file, std::span<const std::int32_t> labels) {
  NewFile output(file);
  output.write(npy_labels_header(std::ssize(labels)));
  output.write(bytes_of(labels.data(), labels.size_bytes()));
  output.commit();
}

}  // namespace lloyd
