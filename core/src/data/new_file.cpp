#include <lloyd/data/new_file.hpp>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {

NewFile::NewFile(const std::filesystem::path& file) : target_(file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::is_regular_file(status)) {
    target_ = std::filesystem::canonical(file);  // a link keeps pointing to what is written
  } else if (std::filesystem::exists(status)) {
    throw Error(fmt::format("{}: cannot write the file: it exists and is not a regular file",
                            file.string()));
  }
  // Two writers of one target, in one process or two, must not share a temporary file.
  static std::atomic<unsigned> count{0};
  temporary_ = target_;
  temporary_ += fmt::format(".{}-{}.tmp", ::getpid(), count++);
  stream_ = std::fopen(temporary_.c_str(), "wbxe");
  if (stream_ == nullptr) fail();
}

NewFile::~NewFile() {
  if (stream_ == nullptr) return;
  std::fclose(stream_);
  ::unlink(temporary_.c_str());
}

void NewFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) fail();
}

void NewFile::write_at(std::int64_t offset, std::string_view bytes) {
  if (::fseeko(stream_, offset, SEEK_SET) != 0) fail();
  write(bytes);
  if (::fseeko(stream_, 0, SEEK_END) != 0) fail();
}

void NewFile::commit() {
  if (std::fflush(stream_) != 0) fail();
  std::FILE* stream = stream_;
  stream_ = nullptr;  // closed even when fclose fails
  if (std::fclose(stream) != 0 || std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    errno = error;
    fail();
  }
}

void NewFile::fail() const {
  throw Error(fmt::format("{}: cannot write the file: {}", target_.string(), std::strerror(errno)));
}

}  // namespace lloyd
