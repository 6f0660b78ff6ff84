// NpyHeader: parses the header of an .npy file.
#pragma once

#include <cstdint>
#include <string_view>

#include <lloyd/plugin/abi/types.hpp>

namespace lloyd {

/// Types of the values in the file. Booleans are uint8.
enum class NpyType {
  float16,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64
};

struct NpyHeader {
  NpyType type = NpyType::float32;
  std::int64_t value_bytes = 4;  ///< size of a value in the file
  /// The type that values are read as: float64 if float32 cannot represent all values of the type.
  DType dtype = DType::float32;
  bool native_order = true;
  bool fortran_order = false;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::size_t data_offset = 0;
};

/// Maximum accepted size of a header with everything before the data; NumPy writes 128 bytes.
constexpr std::size_t kMaxNpyHeader = std::size_t{1} << 17;

/// Parses the header of a file of `file_size` bytes, which begins with `bytes`: the whole file or
/// at least kMaxNpyHeader bytes. Guarantees that the array lies inside of the file. `file` is
/// the name for messages. Throws InputError if the file is no .npy file, is truncated, or holds
/// anything but an array of numbers with one or two dimensions and at least one value.
NpyHeader parse_npy_header(std::string_view file, std::string_view bytes, std::size_t file_size);

/// True if the values lie in the file as they are in memory. A mapping begins at a page, so the
/// offset alone decides on the alignment.
inline bool stays_in_place(const NpyHeader& header) {
  const bool aligned = header.data_offset % static_cast<std::size_t>(size_of(header.dtype)) == 0;
  const bool as_it_is = header.type == NpyType::float32 || header.type == NpyType::float64;
  return as_it_is && !header.fortran_order && header.native_order && aligned;
}

}  // namespace lloyd
