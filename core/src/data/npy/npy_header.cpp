#include "data/npy/npy_header.hpp"

#include <bit>
#include <charconv>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>

namespace lloyd {
namespace {

// Parses the Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }.
class HeaderText {
 public:
  HeaderText(std::string_view file, std::string_view text)
      : file_(file), left_(text.substr(0, text.find_last_not_of(kBlanks) + 1)) {}

  std::string_view descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

  void parse() {
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        parse_descr();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        parse_order();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        parse_shape();
        has_shape = true;
      } else {
        fail(fmt::format("the key '{}' is unknown or occurs twice", shown(key)));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!left_.empty()) fail("text follows the dictionary");
    if (!has_descr || !has_order || !has_shape) {
      fail("one of the keys 'descr', 'fortran_order' and 'shape' is missing");
    }
  }

 private:
  static constexpr std::string_view kBlanks = " \t\r\n\f";

  void skip_blanks() {
    const auto start = left_.find_first_not_of(kBlanks);
    left_.remove_prefix(start == std::string_view::npos ? left_.size() : start);
  }

  bool take(char c) {
    skip_blanks();
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }

  bool take(std::string_view word) {
    skip_blanks();
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }

  void expect(char c) {
    if (take(c)) return;
    fail(left_.empty() ? fmt::format("'{}' is missing at the end", c)
                       : fmt::format("'{}' is missing before '{}'", c, shown(left_)));
  }

  std::string_view string() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const auto length = left_.find(quote);
    if (length == std::string_view::npos) fail("a string has no end");
    const std::string_view result = left_.substr(0, length);
    left_.remove_prefix(length + 1);
    return result;
  }

  void parse_descr() {
    if (take('[')) {
      throw InputError(
          fmt::format("{}: the array holds records of several fields; float32 or "
                      "float64 values are needed",
                      file_));
    }
    descr = string();
  }

  void parse_order() {
    fortran_order = take(std::string_view("True"));
    if (!fortran_order && !take(std::string_view("False"))) {
      fail("'fortran_order' is neither True nor False");
    }
  }

  void parse_shape() {
    expect('(');
    while (!take(')')) {
      skip_blanks();
      std::int64_t size = 0;
      const auto [stop, error] = std::from_chars(left_.data(), left_.data() + left_.size(), size);
      if (error == std::errc::result_out_of_range) fail("a size in 'shape' overflows 64 bits");
      if (error != std::errc{} || size < 0) fail("'shape' is not a tuple of sizes");
      left_.remove_prefix(static_cast<std::size_t>(stop - left_.data()));
      take('L');  // Python 2's long integers
      shape.push_back(size);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
  }

  [[noreturn]] void fail(std::string_view reason) const {
    throw InputError(fmt::format("{}: the .npy header is damaged: {}", file_, reason));
  }

  std::string_view file_;
  std::string_view left_;
};

struct ValueType {
  std::string_view name;  // as NumPy writes it, without the byte order
  NpyType type;
  std::int64_t bytes;
  DType dtype;
};

constexpr ValueType kValueTypes[] = {
    {"f2", NpyType::float16, 2, DType::float32}, {"f4", NpyType::float32, 4, DType::float32},
    {"f8", NpyType::float64, 8, DType::float64}, {"i1", NpyType::int8, 1, DType::float32},
    {"i2", NpyType::int16, 2, DType::float32},   {"i4", NpyType::int32, 4, DType::float64},
    {"i8", NpyType::int64, 8, DType::float64},   {"u1", NpyType::uint8, 1, DType::float32},
    {"u2", NpyType::uint16, 2, DType::float32},  {"u4", NpyType::uint32, 4, DType::float64},
    {"u8", NpyType::uint64, 8, DType::float64},  {"b1", NpyType::uint8, 1, DType::float32}};

// Sets the type of the header; false if it is none of the above.
bool set_type(std::string_view descr, NpyHeader& header) {
  if (descr.starts_with('<')) header.native_order = std::endian::native == std::endian::little;
  if (descr.starts_with('>')) header.native_order = std::endian::native == std::endian::big;
  if (descr.find_first_of("<>=|") == 0) descr.remove_prefix(1);
  for (const ValueType& known : kValueTypes) {
    if (descr != known.name) continue;
    header.type = known.type;
    header.value_bytes = known.bytes;
    header.dtype = known.dtype;
    return true;
  }
  return false;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}, ", shape[i]);
  if (shape.size() > 1) text.erase(text.size() - 2);
  if (shape.size() == 1) text.pop_back();
  return text + ")";
}

// The text of the header; sets `offset` to that of the data.
std::string_view header_text(std::string_view file, std::string_view bytes, std::size_t file_size,
                             std::size_t& offset) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (!bytes.starts_with(kMagic)) {
    throw InputError(
        fmt::format("{}: is not an .npy file: it does not begin with \\x93NUMPY", file));
  }
  const std::string cut = fmt::format("{}: the file ends inside its .npy header", file);
  if (bytes.size() < kMagic.size() + 2) throw InputError(cut);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned major = byte(6);
  const unsigned minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    throw InputError(fmt::format("{}: the .npy version {}.{} is unknown; 1.0, 2.0 and 3.0 are read",
                                 file, major, minor));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  offset = kMagic.size() + 2 + length_bytes;
  if (bytes.size() < offset) throw InputError(cut);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= std::size_t{byte(8 + i)} << (8 * i);
  if (length > file_size - offset) throw InputError(cut);
  if (length > kMaxNpyHeader - offset) {
    throw InputError(fmt::format("{}: the .npy header has {} bytes; the limit is {}", file,
                                 offset + length, kMaxNpyHeader));
  }
  const std::string_view text = bytes.substr(offset, length);
  offset += length;
  return text;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view file, std::string_view bytes, std::size_t file_size) {
  NpyHeader header;
  HeaderText text(file, header_text(file, bytes, file_size, header.data_offset));
  text.parse();
  if (!set_type(text.descr, header)) {
    throw InputError(
        fmt::format("{}: the array holds values of type '{}'; integers of up to 64 bits, float16, "
                    "float32 or float64 are needed",
                    file, shown(text.descr)));
  }
  const std::string shape = shape_text(text.shape);
  if (text.shape.empty() || text.shape.size() > 2) {
    throw InputError(fmt::format("{}: the array has the shape {}; rows by columns are needed", file,
                                 shown(shape)));
  }
  header.rows = text.shape[0];
  header.columns = text.shape.size() == 2 ? text.shape[1] : 1;
  // C and Fortran order are the same for a single row or column.
  header.fortran_order = text.fortran_order && header.rows > 1 && header.columns > 1;
  if (header.rows == 0 || header.columns == 0) {
    throw InputError(
        fmt::format("{}: the array has the shape {}: it holds no values", file, shape));
  }
  std::int64_t needed = 0;
  if (__builtin_mul_overflow(header.rows, header.columns, &needed) ||
      __builtin_mul_overflow(needed, header.value_bytes, &needed)) {
    throw InputError(
        fmt::format("{}: the array has the shape {}, which overflows 64-bit sizes", file, shape));
  }
  const std::size_t present = file_size - header.data_offset;
  if (static_cast<std::uint64_t>(needed) > present) {
    throw InputError(
        fmt::format("{}: the file is truncated: the shape {} needs {} bytes, {} are there", file,
                    shape, needed, present));
  }
  return header;
}

}  // namespace lloyd
