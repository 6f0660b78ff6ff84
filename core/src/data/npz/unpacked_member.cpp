#include "data/npz/unpacked_member.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/descriptors.hpp>
#include <lloyd/internal/shown.hpp>

namespace lloyd {
namespace {

constexpr std::int64_t kBlock = std::int64_t{1} << 18;

[[noreturn]] void fail_damaged(const InputFile& archive, const ZipMember& member) {
  throw InputError(
      fmt::format("{}: the data of '{}' is damaged", archive.path(), shown(member.name)));
}

// A temporary file without a name, which the system deletes once it is closed.
class UnnamedFile {
 public:
  UnnamedFile(const InputFile& archive, std::int64_t bytes) : archive_(archive.path()) {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    if (error) {
      throw InputError(fmt::format(
          "{}: unpacking it takes a folder for temporary files, and there is none ({}); "
          "TMPDIR names one",
          archive_, error.message()));
    }
    folder_ = folder.string();
    const std::filesystem::space_info space = std::filesystem::space(folder, error);
    if (!error && space.available < static_cast<std::uintmax_t>(bytes)) {
      throw InputError(
          fmt::format("{}: unpacking it takes {} bytes in {}, which has {}; TMPDIR names another "
                      "folder",
                      archive_, bytes, folder_, space.available));
    }
    std::string name = (folder / "lloyd-XXXXXX").string();
    descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0) fail("create a file");
    ::unlink(name.c_str());
  }
  ~UnnamedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;

  void write(const char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t count = ::write(descriptor_, data, size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("unpack it");
      data += count;
      size -= static_cast<std::size_t>(count);
    }
  }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  [[noreturn]] void fail(const char* action) const {
    throw InputError(fmt::format("{}: cannot {} in the folder for temporary files {}: {}", archive_,
                                 action, folder_, descriptor_error(errno)));
  }

  std::string archive_;
  std::string folder_;
  int descriptor_ = -1;
};

// zlib's decoder for data without a header.
class Inflater {
 public:
  Inflater() {
    if (::inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

std::uint32_t add_to_crc(std::uint32_t crc, const char* data, std::size_t size) {
  return static_cast<std::uint32_t>(
      ::crc32(crc, reinterpret_cast<const Bytef*>(data), static_cast<uInt>(size)));
}

}  // namespace

std::shared_ptr<const InputFile> unpack(const InputFile& archive, const ZipMember& member) {
  UnnamedFile output(archive, member.bytes);
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::vector<char> packed(static_cast<std::size_t>(kBlock));
  std::vector<char> unpacked(static_cast<std::size_t>(kBlock));
  std::int64_t taken = 0;
  std::int64_t given = 0;
  std::uint32_t crc = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (stream.avail_in == 0 && taken < member.packed_bytes) {
      const std::int64_t count = std::min(kBlock, member.packed_bytes - taken);
      archive.read(member.offset + taken, packed.data(), count);
      taken += count;
      stream.next_in = reinterpret_cast<Bytef*>(packed.data());
      stream.avail_in = static_cast<uInt>(count);
    }
    stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
    stream.avail_out = static_cast<uInt>(kBlock);
    state = ::inflate(&stream, Z_NO_FLUSH);
    const std::size_t count = static_cast<std::size_t>(kBlock) - stream.avail_out;
    given += static_cast<std::int64_t>(count);
    // Z_BUF_ERROR: the data ends too early.
    if ((state != Z_OK && state != Z_STREAM_END) || given > member.bytes) {
      fail_damaged(archive, member);
    }
    crc = add_to_crc(crc, unpacked.data(), count);
    output.write(unpacked.data(), count);
  }
  if (given != member.bytes || crc != member.crc) fail_damaged(archive, member);
  return std::make_shared<const InputFile>(archive.path(), output.release());
}

void verify_checksum(const InputFile& archive, const ZipMember& member) {
  std::vector<char> block(static_cast<std::size_t>(std::min(kBlock, member.bytes)));
  std::uint32_t crc = 0;
  for (std::int64_t at = 0; at < member.bytes; at += kBlock) {
    const std::int64_t count = std::min(kBlock, member.bytes - at);
    archive.read(member.offset + at, block.data(), count);
    crc = add_to_crc(crc, block.data(), static_cast<std::size_t>(count));
  }
  if (crc != member.crc) fail_damaged(archive, member);
}

}  // namespace lloyd
