// ScratchFolder: a folder for as long as the object lives.
#pragma once

#include <filesystem>

namespace lloyd::apps {

class ScratchFolder {
 public:
  /// Makes one in the system's folder for temporary files. Throws Error.
  ScratchFolder();
  /// Removes it and what is in it.
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Its path.
  const std::filesystem::path& path() const { return path_; }
  /// A file's path in it.
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace lloyd::apps
