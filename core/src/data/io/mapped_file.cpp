#include "data/io/mapped_file.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "data/io/input_file.hpp"

namespace lloyd {

MappedFile::MappedFile(const std::filesystem::path& file) {
  const InputFile input(file);
  if (input.size() == 0) return;  // mmap() refuses an empty mapping
  const auto size = static_cast<std::size_t>(input.size());
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, input.descriptor(), 0);
  if (data == MAP_FAILED) {
    throw InputError(
        fmt::format("{}: cannot map the file into memory: {}", input.path(), std::strerror(errno)));
  }
  data_ = static_cast<const char*>(data);
  size_ = size;
  try {
    file_.emplace(input.path(), input.descriptor(), input.stamp(), data, size);
  } catch (...) {
    ::munmap(data, size);
    throw;
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace lloyd
