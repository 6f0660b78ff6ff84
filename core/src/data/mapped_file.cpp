#include "data/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail(const std::filesystem::path& file, const char* action) {
  throw InputError(fmt::format("{}: cannot {}: {}", file.string(), action, std::strerror(errno)));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.number() < 0) fail(file, "open the file");
  struct stat status = {};
  if (::fstat(descriptor.number(), &status) != 0) fail(file, "read the file's size");
  if (!S_ISREG(status.st_mode)) {
    throw InputError(fmt::format("{}: is not a regular file", file.string()));
  }
  if (status.st_size == 0) return;  // an empty mapping is an error of mmap
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number(), 0);
  if (data == MAP_FAILED) fail(file, "map the file into memory");
  data_ = static_cast<const char*>(data);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace lloyd
