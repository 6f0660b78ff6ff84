// LibraryRead: marks that a file is read by a library that damaged bytes may crash.
#pragma once

namespace lloyd {

/// While it lives, the calling thread reads a file by a library of others. Does not nest.
class LibraryRead {
 public:
  /// `path` is the file's, printable() for a message; it must outlive this object.
  explicit LibraryRead(const char* path);
  ~LibraryRead();
  LibraryRead(const LibraryRead&) = delete;
  LibraryRead& operator=(const LibraryRead&) = delete;
};

/// The path of the file that the calling thread reads by a library of others; null where there is
/// none. A signal handler may call it.
const char* file_read_by_library() noexcept;

}  // namespace lloyd
