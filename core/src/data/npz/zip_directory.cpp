#include "data/npz/zip_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>

namespace lloyd {
namespace {

constexpr std::uint64_t kMaxDirectoryBytes = std::uint64_t{16} << 20;
constexpr std::uint32_t kNotHere32 = 0xffffffff;  // the value is in the 64-bit extension
constexpr std::uint16_t kNotHere16 = 0xffff;

// Little-endian numbers in bytes that were read from the archive.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size(); }
  /// The caller has checked the size.
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::size_t at) const { return number(at, 8); }
  Bytes part(std::size_t at, std::size_t size) const { return Bytes(bytes_.substr(at, size)); }
  std::string_view text() const { return bytes_; }

 private:
  std::uint64_t number(std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes_[at + i])} << (8 * i);
    }
    return value;
  }

  std::string_view bytes_;
};

// Place of the directory in the archive.
struct DirectoryPlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t members = 0;
};

class Archive {
 public:
  explicit Archive(const InputFile& file) : file_(file), size_(file.size()) {}

  std::vector<ZipMember> members() const {
    const DirectoryPlace place = find_directory();
    const std::string text = read(place.offset, place.bytes);
    const Bytes directory(text);
    std::vector<ZipMember> members;
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < place.members; ++i) {
      constexpr std::size_t kFixed = 46;
      if (directory.size() - at < kFixed || directory.u32(at) != 0x02014b50) fail_directory();
      const std::size_t name = directory.u16(at + 28);
      const std::size_t extra = directory.u16(at + 30);
      const std::size_t all = kFixed + name + extra + directory.u16(at + 32);
      if (directory.size() - at < all) fail_directory();
      members.push_back(member(directory.part(at, kFixed), directory.part(at + kFixed, name).text(),
                               directory.part(at + kFixed + name, extra)));
      at += all;
    }
    return members;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw InputError(fmt::format("{}: {}", file_.path(), what));
  }
  [[noreturn]] void fail_directory() const { fail("the directory of the .npz file is damaged"); }

  // True if [offset, offset + bytes) lies inside of the file.
  bool contains(std::uint64_t offset, std::uint64_t bytes) const {
    const auto size = static_cast<std::uint64_t>(size_);
    return offset <= size && bytes <= size - offset;
  }

  std::string read(std::uint64_t offset, std::uint64_t bytes) const {
    if (!contains(offset, bytes)) fail_directory();
    std::string text(bytes, '\0');
    file_.read(static_cast<std::int64_t>(offset), text.data(), static_cast<std::int64_t>(bytes));
    return text;
  }

  // The last record of the archive, which is followed by a comment only.
  DirectoryPlace find_directory() const {
    constexpr std::int64_t kFixed = 22;
    constexpr std::int64_t kMaxComment = 0xffff;
    const std::int64_t tail = std::min(size_, kFixed + kMaxComment);
    const std::string text =
        read(static_cast<std::uint64_t>(size_ - tail), static_cast<std::uint64_t>(tail));
    const Bytes bytes(text);
    for (std::int64_t at = tail - kFixed; at >= 0; --at) {
      const auto begin = static_cast<std::size_t>(at);
      if (bytes.u32(begin) != 0x06054b50 || bytes.u16(begin + 20) != tail - kFixed - at) continue;
      DirectoryPlace place{bytes.u32(begin + 16), bytes.u32(begin + 12), bytes.u16(begin + 10)};
      if (place.offset == kNotHere32 || place.bytes == kNotHere32 || place.members == kNotHere16) {
        place = find_long_directory(static_cast<std::uint64_t>(size_ - tail + at));
      }
      if (place.bytes > kMaxDirectoryBytes) {
        fail(fmt::format("the directory of the .npz file has {} bytes; the limit is {}",
                         place.bytes, kMaxDirectoryBytes));
      }
      return place;
    }
    fail("is not an .npz file: it has no directory of a ZIP archive at its end");
  }

  // The 64-bit record, to which a locator before the last record, at `end`, points.
  DirectoryPlace find_long_directory(std::uint64_t end) const {
    constexpr std::uint64_t kLocator = 20;
    constexpr std::uint64_t kRecord = 56;
    if (end < kLocator) fail_directory();
    const std::string locator = read(end - kLocator, kLocator);
    if (Bytes(locator).u32(0) != 0x07064b50) fail_directory();
    const std::string text = read(Bytes(locator).u64(8), kRecord);
    const Bytes record(text);
    if (record.u32(0) != 0x06064b50) fail_directory();
    return {record.u64(48), record.u64(40), record.u64(32)};
  }

  // Replaces sizes and the offset that are in the 64-bit extension; these are listed there in this
  // order.
  void read_extension(const Bytes& extra, std::uint64_t& bytes, std::uint64_t& packed_bytes,
                      std::uint64_t& offset) const {
    for (std::size_t at = 0; extra.size() - at >= 4;) {
      const std::size_t size = extra.u16(at + 2);
      if (extra.size() - at - 4 < size) fail_directory();
      const Bytes field = extra.part(at + 4, size);
      std::size_t next = 0;
      for (std::uint64_t* const value : {&bytes, &packed_bytes, &offset}) {
        if (extra.u16(at) != 1 || *value != kNotHere32 || field.size() - next < 8) continue;
        *value = field.u64(next);
        next += 8;
      }
      at += 4 + size;
    }
  }

  ZipMember member(const Bytes& entry, std::string_view name, const Bytes& extra) const {
    std::uint64_t packed_bytes = entry.u32(20);
    std::uint64_t bytes = entry.u32(24);
    std::uint64_t offset = entry.u32(42);
    read_extension(extra, bytes, packed_bytes, offset);
    const std::uint16_t method = entry.u16(10);
    if ((entry.u16(8) & 1) != 0) fail(fmt::format("'{}' is encrypted", shown(name)));
    if (method != 0 && method != 8) {
      fail(fmt::format("'{}' is compressed by method {}; stored and deflated arrays are read",
                       shown(name), method));
    }
    if (method == 0 && bytes != packed_bytes) fail_directory();
    constexpr std::uint64_t kFixed = 30;
    const std::string text = read(offset, kFixed);
    const Bytes header(text);
    if (header.u32(0) != 0x04034b50) fail_directory();
    const std::uint64_t data = offset + kFixed + header.u16(26) + header.u16(28);
    if (!contains(data, packed_bytes)) {
      fail(fmt::format("the file is truncated: '{}' does not lie inside of it", shown(name)));
    }
    // Deflate packs 258 bytes into at least two bits.
    if (bytes / 1032 > packed_bytes) {
      fail(fmt::format("'{}' claims {} bytes, more than its {} compressed bytes can hold",
                       shown(name), bytes, packed_bytes));
    }
    return {std::string(name),
            method == 8,
            entry.u32(16),
            static_cast<std::int64_t>(data),
            static_cast<std::int64_t>(packed_bytes),
            static_cast<std::int64_t>(bytes)};
  }

  const InputFile& file_;
  std::int64_t size_;
};

}  // namespace

std::vector<ZipMember> read_zip_directory(const InputFile& file) {
  return Archive(file).members();
}

}  // namespace lloyd
