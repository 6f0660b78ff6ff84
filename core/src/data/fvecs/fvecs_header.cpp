#include "data/fvecs/fvecs_header.hpp"

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>

namespace lloyd {

FvecsHeader parse_fvecs_header(std::string_view file, std::string_view head, std::int64_t file_size,
                               std::int64_t value_bytes) {
  if (file_size == 0) throw InputError(fmt::format("{}: the file is empty", file));
  if (head.size() < 4) {
    throw InputError(fmt::format("{}: the file ends inside its first number", file));
  }
  FvecsHeader header;
  header.value_bytes = value_bytes;
  header.columns = fvecs_count(head.data());
  if (header.columns < 1) {
    throw InputError(fmt::format("{}: row 0 (counted from 0) claims {}; at least 1 is needed", file,
                                 format_count(header.columns, "value")));
  }
  header.rows = file_size / header.row_bytes();
  if (header.rows < 1 || file_size % header.row_bytes() != 0) {
    throw InputError(
        fmt::format("{}: the file is truncated or damaged: its {} bytes are not a whole number of "
                    "rows of {} bytes, for {} per row",
                    file, file_size, header.row_bytes(), format_count(header.columns, "value")));
  }
  return header;
}

void check_fvecs_row(std::string_view file, const FvecsHeader& header, std::int64_t index,
                     std::int32_t count) {
  if (count == header.columns) return;
  throw InputError(fmt::format(
      "{}: row {} (counted from 0) claims {}; row 0 has {}, and all rows must have as many", file,
      index, format_count(count, "value"), header.columns));
}

}  // namespace lloyd
