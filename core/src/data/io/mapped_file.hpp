// MappedFile: a file that is mapped into memory read-only.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

#include <lloyd/data/backing_file.hpp>

namespace lloyd {

class MappedFile {
 public:
  /// Maps the file. Throws InputError if it cannot be opened or mapped, or is not a regular file.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }
  /// The file behind the mapping; only for a file that is not empty.
  const BackingFile& file() const { return *file_; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<BackingFile> file_;
};

}  // namespace lloyd
