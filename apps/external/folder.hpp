// Folder: a folder for the time that this object lives.
#pragma once

#include <filesystem>

namespace lloyd::external {

class Folder {
 public:
  /// Makes one in the system's folder for temporary files. Throws Error.
  Folder();
  /// Removes it and what is in it.
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// A file's path in it.
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace lloyd::external
