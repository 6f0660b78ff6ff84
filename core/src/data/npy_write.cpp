#include <bit>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/data/new_file.hpp>
#include <lloyd/data/npy.hpp>
#include <lloyd/error.hpp>

namespace lloyd {
namespace {

// `type` is NumPy's without the byte order, `shape` a Python tuple.
std::string header(std::string_view type, std::string_view shape) {
  const char order = std::endian::native == std::endian::little ? '<' : '>';
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", order, type, shape);
  constexpr std::size_t kPrefix = 10;     // magic, version and length
  constexpr std::size_t kAlignment = 64;  // of the data, as the format wants it
  const std::size_t used = kPrefix + text.size() + 1;
  text.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(text.size() & 0xff);
  bytes += static_cast<char>(text.size() >> 8);
  return bytes + text;
}

std::string_view bytes_of(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

}  // namespace

void write_npy(const std::filesystem::path& file, const Matrix& matrix) {
  NewFile output(file);
  output.write(header(matrix.dtype == DType::float32 ? "f4" : "f8",
                      fmt::format("({}, {})", matrix.rows, matrix.columns)));
  const std::int64_t size = size_of(matrix.dtype);
  const char* row = static_cast<const char*>(matrix.data);
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    output.write(
        bytes_of(row + i * matrix.stride * size, static_cast<std::size_t>(matrix.columns * size)));
  }
  output.commit();
}

void write_npy(const std::filesystem::path& file, std::span<const double> values,
               std::int64_t columns) {
  if (columns < 1 || std::ssize(values) % columns != 0) {
    throw InputError(fmt::format("{}: {} values are no whole rows of {} columns", file.string(),
                                 values.size(), columns));
  }
  NewFile output(file);
  output.write(header("f8", fmt::format("({}, {})", std::ssize(values) / columns, columns)));
  output.write(bytes_of(values.data(), values.size_bytes()));
  output.commit();
}

void write_npy(const std::filesystem::path& file, std::span<const std::int32_t> labels) {
  NewFile output(file);
  output.write(header("i4", fmt::format("({},)", labels.size())));
  output.write(bytes_of(labels.data(), labels.size_bytes()));
  output.commit();
}

}  // namespace lloyd
