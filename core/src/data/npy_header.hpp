// NpyHeader: what an .npy file says of its array.
#pragma once

#include <cstdint>
#include <string_view>

#include <lloyd/plugin/types.hpp>

namespace lloyd {

struct NpyHeader {
  DType dtype = DType::float32;
  bool native_order = true;
  bool fortran_order = false;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::size_t data_offset = 0;
};

/// As long as a header may be, with all that comes before the data; NumPy writes 128 bytes.
constexpr std::size_t kMaximumNpyHeader = std::size_t{1} << 17;

/// Parses the head of a file of `file_size` bytes, of which `bytes` are the first: all of them or
/// kMaximumNpyHeader at least. The array then lies inside the file. `file` is the name for
/// messages. Throws InputError when the file is no .npy file, is cut short or holds something else
/// than a float32 or float64 array of one or two dimensions with at least one value.
NpyHeader parse_npy_header(std::string_view file, std::string_view bytes, std::size_t file_size);

}  // namespace lloyd
