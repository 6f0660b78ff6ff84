// LibraryUse: marks that this thread uses a file through a library that may crash, on a damaged
// file or when memory is short.
#pragma once

namespace lloyd {

/// What a thread does with a file.
enum class FileUse { reading, writing };

/// During its lifetime, the calling thread reads or writes a file through a third-party library. At
/// most one object for each use per thread.
class LibraryUse {
 public:
  /// `path` is the file's, printable() for a message; it must outlive this object.
  LibraryUse(FileUse use, const char* path);
  ~LibraryUse();
  LibraryUse(const LibraryUse&) = delete;
  LibraryUse& operator=(const LibraryUse&) = delete;

 private:
  FileUse use_;
};

/// The path of the file that the calling thread reads or writes through a third-party library; null
/// if there is none. Async-signal-safe.
const char* file_used_by_library(FileUse use) noexcept;

}  // namespace lloyd
