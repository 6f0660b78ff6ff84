#include "data/npy/npy_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lloyd/plugin/sdk/float_environment.hpp>

#include "data/npy/npy_mapping.hpp"
#include "data/rows/check_rows.hpp"
#include "data/rows/integer_rounding.hpp"

namespace lloyd {
namespace {

// A float16 number (IEEE 754 binary16).
struct Half {
  std::uint16_t bits;
};

float to_float(Half half) {
  const int exponent = (half.bits >> 10) & 0x1f;
  const int mantissa = half.bits & 0x3ff;
  float size = 0;
  if (exponent == 0x1f) {
    size = mantissa == 0 ? std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    size = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    size = std::ldexp(static_cast<float>(mantissa + 0x400), exponent - 25);
  }
  return (half.bits & 0x8000) != 0 ? -size : size;
}

template <class T, class Stored>
T converted(Stored value) {
  if constexpr (std::is_same_v<Stored, Half>) {
    return to_float(value);
  } else {
    return static_cast<T>(value);
  }
}

NpyHeader npy_header_of(const InputFile& file, std::int64_t begin, std::int64_t size) {
  std::vector<char> bytes(std::min(static_cast<std::size_t>(size), kMaxNpyHeader));
  file.read(begin, bytes.data(), std::ssize(bytes));
  NpyHeader header =
      parse_npy_header(file.path(), {bytes.data(), bytes.size()}, static_cast<std::size_t>(size));
  header.data_offset += static_cast<std::size_t>(begin);
  return header;
}

template <class T>
void swap_bytes(T* values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    char* const bytes = reinterpret_cast<char*>(values + i);
    std::reverse(bytes, bytes + sizeof(T));
  }
}

}  // namespace

NpyRows::NpyRows(const std::filesystem::path& file)
    : name_(file.filename().string()),
      file_(std::make_shared<const InputFile>(file)),
      header_(npy_header_of(*file_, 0, file_->size())) {}

NpyRows::NpyRows(std::string name, std::shared_ptr<const InputFile> file, std::int64_t begin,
                 std::int64_t size)
    : name_(std::move(name)), file_(std::move(file)), header_(npy_header_of(*file_, begin, size)) {}

void NpyRows::read(RowRange rows, void* values) const {
  check_rows(*this, rows);
  const FloatEnvironment environment;
  auto* const floats = static_cast<float*>(values);
  auto* const doubles = static_cast<double*>(values);
  switch (header_.type) {
    case NpyType::float16:
      return read_values<Half>(rows, floats);
    case NpyType::float32:
      return read_values<float>(rows, floats);
    case NpyType::float64:
      return read_values<double>(rows, doubles);
    case NpyType::int8:
      return read_values<std::int8_t>(rows, floats);
    case NpyType::int16:
      return read_values<std::int16_t>(rows, floats);
    case NpyType::int32:
      return read_values<std::int32_t>(rows, doubles);
    case NpyType::int64:
      return read_values<std::int64_t>(rows, doubles);
    case NpyType::uint8:
      return read_values<std::uint8_t>(rows, floats);
    case NpyType::uint16:
      return read_values<std::uint16_t>(rows, floats);
    case NpyType::uint32:
      return read_values<std::uint32_t>(rows, doubles);
    case NpyType::uint64:
      return read_values<std::uint64_t>(rows, doubles);
  }
}

std::unique_ptr<RowMapping> NpyRows::map() const {
  if (!stays_in_place(header_)) return nullptr;
  return NpyMapping::of(file_, header_.data_offset, header_.columns * size_of(header_.dtype));
}

std::vector<FeatureRounding> NpyRows::rounding() const {
  if (header_.type == NpyType::int64) return rounding_of<std::int64_t>();
  if (header_.type == NpyType::uint64) return rounding_of<std::uint64_t>();
  return {};
}

template <class Stored>
std::vector<FeatureRounding> NpyRows::rounding_of() const {
  const std::int64_t rows = rounding_rows(header_.rows, header_.columns);
  std::vector<Stored> values(static_cast<std::size_t>(rows * header_.columns));
  read_values<Stored>({0, rows}, values.data());
  return integer_rounding(values, header_.columns);
}

// Reads consecutive values of the file, in native byte order.
template <class Stored>
void NpyRows::read_stored(std::int64_t first_value, Stored* values, std::int64_t count) const {
  constexpr std::int64_t kBytes = sizeof(Stored);
  file_->read(static_cast<std::int64_t>(header_.data_offset) + first_value * kBytes, values,
              count * kBytes);
  if (!header_.native_order) swap_bytes(values, count);
}

template <class Stored, class T>
void NpyRows::read_values(RowRange rows, T* values) const {
  if (header_.fortran_order) return read_columns<Stored>(rows, values);
  const std::int64_t begin = rows.begin * header_.columns;
  const std::int64_t end = rows.end * header_.columns;
  if constexpr (std::is_same_v<Stored, T>) {
    read_stored(begin, values, end - begin);
  } else {
    constexpr std::int64_t kTileValues = std::int64_t{1} << 16;
    std::vector<Stored> tile(static_cast<std::size_t>(std::min(end - begin, kTileValues)));
    for (std::int64_t at = begin; at < end; at += kTileValues) {
      const std::int64_t count = std::min(kTileValues, end - at);
      read_stored(at, tile.data(), count);
      values = std::transform(tile.begin(), tile.begin() + count, values, converted<T, Stored>);
    }
  }
}

// Transposes tile by tile, so that the rows that are written stay in cache from column to column.
template <class Stored, class T>
void NpyRows::read_columns(RowRange rows, T* values) const {
  constexpr std::int64_t kTileRows = 8192;
  constexpr std::int64_t kTileColumns = 16;
  const std::int64_t d = header_.columns;
  std::vector<Stored> tile(
      static_cast<std::size_t>(kTileColumns * std::min(rows.size(), kTileRows)));
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += kTileRows) {
    const std::int64_t height = std::min(kTileRows, rows.end - begin);
    for (std::int64_t left = 0; left < d; left += kTileColumns) {
      const std::int64_t width = std::min(kTileColumns, d - left);
      for (std::int64_t j = 0; j < width; ++j) {
        read_stored((left + j) * header_.rows + begin, tile.data() + j * height, height);
      }
      T* const corner = values + (begin - rows.begin) * d + left;
      for (std::int64_t i = 0; i < height; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
          corner[i * d + j] = converted<T>(tile[j * height + i]);
        }
      }
    }
  }
}

}  // namespace lloyd
