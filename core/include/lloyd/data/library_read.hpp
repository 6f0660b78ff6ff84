// LibraryRead and LibraryWrite: mark that this thread uses a file through a library that may crash,
// on a damaged file or when memory is short.
#pragma once

namespace lloyd {

/// During its lifetime, the calling thread reads a file through a third-party library. At most one
/// object per thread.
class LibraryRead {
 public:
  /// `path` is the file's, printable() for a message; it must outlive this object.
  explicit LibraryRead(const char* path);
  ~LibraryRead();
  LibraryRead(const LibraryRead&) = delete;
  LibraryRead& operator=(const LibraryRead&) = delete;
};

/// The same for a file that the calling thread writes.
class LibraryWrite {
 public:
  /// `path` is the file's, printable() for a message; it must outlive this object.
  explicit LibraryWrite(const char* path);
  ~LibraryWrite();
  LibraryWrite(const LibraryWrite&) = delete;
  LibraryWrite& operator=(const LibraryWrite&) = delete;
};

/// The path of the file that the calling thread reads through a third-party library; null if there
/// is none. Async-signal-safe.
const char* file_read_by_library() noexcept;
/// The same for a file that the calling thread writes.
const char* file_written_by_library() noexcept;

}  // namespace lloyd
