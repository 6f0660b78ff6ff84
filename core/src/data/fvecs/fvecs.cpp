#include <lloyd/data/fvecs.hpp>

#include <string>
#include <utility>

#include <lloyd/data/files.hpp>

#include "data/fvecs/fvecs_header.hpp"
#include "data/fvecs/fvecs_rows.hpp"
#include "data/io/mapped_file.hpp"
#include "data/rows/read_all.hpp"

namespace lloyd {

Matrix read_fvecs(const std::filesystem::path& file) {
  if (lower_case_extension(file) == ".bvecs") return read_all(FvecsRows(file));
  auto mapped = std::make_shared<MappedFile>(file);
  const std::string_view bytes = mapped->bytes();
  const std::string path = file.string();
  const FvecsHeader header =
      parse_fvecs_header(path, bytes, static_cast<std::int64_t>(bytes.size()), 4);
  for (std::int64_t i = 0; i < header.rows; ++i) {
    check_fvecs_row(path, header, i, fvecs_count(bytes.data() + i * header.row_bytes()));
  }
  Matrix matrix;
  matrix.data = bytes.data() + 4;
  matrix.file = {mapped, &mapped->file()};
  matrix.storage = std::move(mapped);
  matrix.rows = header.rows;
  matrix.columns = header.columns;
  matrix.stride = header.columns + 1;
  return matrix;
}

}  // namespace lloyd
