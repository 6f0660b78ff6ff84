#include "data/npy/npy_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace lloyd {
namespace {

NpyHeader npy_header_of(const InputFile& file) {
  std::vector<char> bytes(std::min(static_cast<std::size_t>(file.size()), kMaxNpyHeader));
  file.read(0, bytes.data(), std::ssize(bytes));
  return parse_npy_header(file.path(), {bytes.data(), bytes.size()},
                          static_cast<std::size_t>(file.size()));
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
    : name_(file.filename().string()), file_(file), header_(npy_header_of(file_)) {}

void NpyRows::read(RowRange rows, void* values) const {
  if (header_.dtype == DType::float32) {
    read_values(rows, static_cast<float*>(values));
  } else {
    read_values(rows, static_cast<double*>(values));
  }
}

template <class T>
void NpyRows::read_values(RowRange rows, T* values) const {
  if (header_.fortran_order) return read_columns(rows, values);
  const std::int64_t row_bytes = header_.columns * std::int64_t{sizeof(T)};
  file_.read(static_cast<std::int64_t>(header_.data_offset) + rows.begin * row_bytes, values,
             rows.size() * row_bytes);
  if (!header_.native_order) swap_bytes(values, rows.size() * header_.columns);
}

// Transposes tile by tile, so that the rows that are written stay in cache from column to column.
template <class T>
void NpyRows::read_columns(RowRange rows, T* values) const {
  constexpr std::int64_t kTileRows = 8192;
  constexpr std::int64_t kTileColumns = 16;
  const std::int64_t d = header_.columns;
  const auto data = static_cast<std::int64_t>(header_.data_offset);
  std::vector<T> tile(static_cast<std::size_t>(kTileColumns * std::min(rows.size(), kTileRows)));
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += kTileRows) {
    const std::int64_t height = std::min(kTileRows, rows.end - begin);
    for (std::int64_t left = 0; left < d; left += kTileColumns) {
      const std::int64_t width = std::min(kTileColumns, d - left);
      for (std::int64_t j = 0; j < width; ++j) {
        file_.read(data + ((left + j) * header_.rows + begin) * std::int64_t{sizeof(T)},
                   tile.data() + j * height, height * std::int64_t{sizeof(T)});
      }
      if (!header_.native_order) swap_bytes(tile.data(), width * height);
      T* const corner = values + (begin - rows.begin) * d + left;
      for (std::int64_t i = 0; i < height; ++i) {
        for (std::int64_t j = 0; j < width; ++j) corner[i * d + j] = tile[j * height + i];
      }
    }
  }
}

}  // namespace lloyd
