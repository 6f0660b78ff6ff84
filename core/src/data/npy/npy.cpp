#include <lloyd/data/npy.hpp>

#include <string>
#include <utility>
#include <vector>

#include "data/io/mapped_file.hpp"
#include "data/npy/npy_header.hpp"
#include "data/npy/npy_rows.hpp"
#include "data/rows/read_all.hpp"

namespace lloyd {
Matrix read_npy(const std::filesystem::path& file) {
  auto mapped = std::make_shared<MappedFile>(file);
  const std::string_view bytes = mapped->bytes();
  const NpyHeader header = parse_npy_header(file.string(), bytes, bytes.size());
  if (!stays_in_place(header)) return read_all(NpyRows(file));
  Matrix matrix;
  matrix.data = bytes.data() + header.data_offset;
  matrix.file = {mapped, &mapped->file()};
  matrix.storage = std::move(mapped);
  matrix.rows = header.rows;
  matrix.columns = header.columns;
  matrix.stride = header.columns;
  matrix.dtype = header.dtype;
  return matrix;
}

Dataset read_npy_dataset(const std::filesystem::path& file) {
  Dataset dataset(file.filename().string(), read_npy(file));
  if (!dataset.matrix().file) dataset.rounding = NpyRows(file).rounding();
  return dataset;
}

}  // namespace lloyd
