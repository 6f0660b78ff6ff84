// NpyHeader: parses the header of an .npy file.
#pragma once

#include <cstdint>
#include <string_view>

#include <lloyd/plugin/abi/types.hpp>

namespace lloyd {

struct NpyHeader {
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
/// anything but a float32 or float64 array with one or two dimensions and at least one value.
NpyHeader parse_npy_header(std::string_view file, std::string_view bytes, std::size_t file_size);

}  // namespace lloyd
