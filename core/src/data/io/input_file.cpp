#include "data/io/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/descriptors.hpp>

namespace lloyd {

// O_NONBLOCK: opening a pipe must not wait for a writer.
InputFile::InputFile(const std::filesystem::path& file)
    : InputFile(file.string(), ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
}

InputFile::InputFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {
  if (descriptor_ < 0) fail("open the file");
  struct stat status = {};
  const std::optional<FileStamp> stamp = read_stamp(descriptor_);
  if (!stamp || ::fstat(descriptor_, &status) != 0) {
    const int error = errno;
    ::close(descriptor_);
    errno = error;
    fail("read the file's size");
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw InputError(fmt::format("{}: is not a regular file", path_));
  }
  stamp_ = *stamp;
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

std::int64_t InputFile::read_some(std::int64_t offset, void* buffer, std::int64_t bytes) const {
  constexpr std::int64_t kMaxReadBytes = std::int64_t{1}
                                         << 30;  // one read() of Linux is below 2^31 bytes
  std::int64_t done = 0;
  while (done < bytes) {
    const auto piece = static_cast<std::size_t>(std::min(bytes - done, kMaxReadBytes));
    const ssize_t count =
        ::pread(descriptor_, static_cast<char*>(buffer) + done, piece, offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read the file");
    if (count == 0) break;
    done += count;
  }
  return done;
}

void InputFile::read(std::int64_t offset, void* buffer, std::int64_t bytes) const {
  const std::int64_t done = read_some(offset, buffer, bytes);
  if (done < bytes) {
    throw InputError(fmt::format("{}: the file ends at byte {}; it was truncated while it was read",
                                 path_, offset + done));
  }
  check_unchanged();
}

bool InputFile::is_open_as(int descriptor) const {
  struct stat mine = {};
  struct stat other = {};
  return ::fstat(descriptor_, &mine) == 0 && ::fstat(descriptor, &other) == 0 &&
         mine.st_dev == other.st_dev && mine.st_ino == other.st_ino;
}

void InputFile::fail(const char* action) const {
  throw InputError(fmt::format("{}: cannot {}: {}", path_, action, descriptor_error(errno)));
}

}  // namespace lloyd
