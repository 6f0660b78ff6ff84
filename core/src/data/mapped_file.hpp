// MappedFile: the bytes of a file, read-only, without copying them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

#include <lloyd/data/backing_file.hpp>

namespace lloyd {

class MappedFile {
 public:
  /// Throws InputError when the file cannot be opened, is not a regular file or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }
  /// Of a file that is not empty.
  const BackingFile& file() const { return *file_; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<BackingFile> file_;
};

}  // namespace lloyd
