#include <lloyd/data/npy.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "data/mapped_file.hpp"
#include "data/npy_header.hpp"

namespace lloyd {
namespace {

template <class T>
T load(const char* bytes, bool native_order) {
  char ordered[sizeof(T)];
  std::memcpy(ordered, bytes, sizeof(T));
  if (!native_order) std::reverse(ordered, ordered + sizeof(T));
  T value;
  std::memcpy(&value, ordered, sizeof(T));
  return value;
}

template <class T>
Matrix convert(const NpyHeader& header, const char* data) {
  const auto n = static_cast<std::size_t>(header.rows);
  const auto d = static_cast<std::size_t>(header.columns);
  std::vector<T> values(n * d);
  if (!header.fortran_order) {
    for (std::size_t i = 0; i < n * d; ++i) {
      values[i] = load<T>(data + i * sizeof(T), header.native_order);
    }
  } else {
    // By blocks of rows, so that the rows written stay in the cache from column to column.
    constexpr std::size_t kBlockRows = 256;
    for (std::size_t begin = 0; begin < n; begin += kBlockRows) {
      const std::size_t end = std::min(begin + kBlockRows, n);
      for (std::size_t j = 0; j < d; ++j) {
        for (std::size_t i = begin; i < end; ++i) {
          values[i * d + j] = load<T>(data + (j * n + i) * sizeof(T), header.native_order);
        }
      }
    }
  }
  return Matrix::own(std::move(values), header.rows, header.columns);
}

}  // namespace

Matrix read_npy(const std::filesystem::path& file) {
  auto mapped = std::make_shared<MappedFile>(file);
  const NpyHeader header = parse_npy_header(file.string(), mapped->bytes());
  const char* const data = mapped->bytes().data() + header.data_offset;
  // A mapping begins at a page: the offset alone decides on the alignment.
  const bool aligned = header.data_offset % static_cast<std::size_t>(size_of(header.dtype)) == 0;
  if (header.fortran_order || !header.native_order || !aligned) {
    return header.dtype == DType::float32 ? convert<float>(header, data)
                                          : convert<double>(header, data);
  }
  Matrix matrix;
  matrix.storage = std::move(mapped);
  matrix.data = data;
  matrix.rows = header.rows;
  matrix.columns = header.columns;
  matrix.stride = header.columns;
  matrix.dtype = header.dtype;
  return matrix;
}

Dataset read_npy_dataset(const std::filesystem::path& file) {
  return Dataset(file.filename().string(), read_npy(file));
}

}  // namespace lloyd
