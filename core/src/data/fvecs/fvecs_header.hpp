// FvecsHeader: the shape of an .fvecs or .bvecs file.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace lloyd {

/// Each row is the count d, a little-endian int32, and d values: float32 in .fvecs, uint8 in
/// .bvecs.
struct FvecsHeader {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t value_bytes = 4;

  std::int64_t row_bytes() const { return 4 + columns * value_bytes; }
};

/// The count at the start of a row.
inline std::int32_t fvecs_count(const char* row) {
  static_assert(std::endian::native == std::endian::little, "files are read as they are");
  std::int32_t count = 0;
  std::memcpy(&count, row, sizeof(count));
  return count;
}

/// The shape of a file of `file_size` bytes that begins with `head` (4 bytes, or fewer if the file
/// is shorter). `value_bytes` is 4 or 1; `file` is the name for messages. Throws InputError for an
/// empty file, a count below 1, and a size that is not a whole number of rows.
FvecsHeader parse_fvecs_header(std::string_view file, std::string_view head, std::int64_t file_size,
                               std::int64_t value_bytes);

/// Throws InputError unless row `index` begins with the same count as the first row.
void check_fvecs_row(std::string_view file, const FvecsHeader& header, std::int64_t index,
                     std::int32_t count);

}  // namespace lloyd
