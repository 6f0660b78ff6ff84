// BackingFile: a memory-mapped file whose values are used in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lloyd {

/// Size and times of a file, to detect that it was changed.
struct FileStamp {
  std::int64_t size = 0;                ///< bytes
  std::int64_t seconds = 0;             ///< modification time, seconds since 1970
  std::int64_t nanoseconds = 0;         ///< its fraction
  std::int64_t status_seconds = 0;      ///< status-change time (ctime), seconds since 1970
  std::int64_t status_nanoseconds = 0;  ///< its fraction
};

/// The stamp of an open file; empty, with errno set, if fstat() fails.
std::optional<FileStamp> read_stamp(int descriptor);

/// Throws InputError unless the open file `path` still has the stamp's size and modification time.
void check_stamp(const std::string& path, int descriptor, const FileStamp& stamp);

/// True if the status-change time (ctime) of an open file differs from the stamp or is unknown.
/// Programs can reset the modification time of a file that they overwrote, but not this time. It
/// also changes with the file's name, links, owner or mode, so only reading the file tells whether
/// its bytes changed.
bool status_has_changed(int descriptor, const FileStamp& stamp);

/// Registers [begin, begin + size) as the mapping of a file from its first byte on, for its
/// lifetime; see mapped_file_at().
class BackingFile {
 public:
  /// Keeps a duplicate of `descriptor`. `stamp` is the stamp of the file when its values were first
  /// read. Throws Error if no file descriptor is left.
  BackingFile(std::string path, int descriptor, const FileStamp& stamp, const void* begin,
              std::size_t size);
  ~BackingFile();
  BackingFile(const BackingFile&) = delete;
  BackingFile& operator=(const BackingFile&) = delete;

  /// The path of the file, as it was opened.
  const std::string& path() const { return path_; }
  /// The descriptor of the open file.
  int descriptor() const { return descriptor_; }
  /// The stamp of the file when its values were first read.
  const FileStamp& stamp() const { return stamp_; }
  /// The first byte of the mapping.
  const char* begin() const { return begin_; }
  /// Throws InputError if the file was truncated, extended or overwritten since. An overwrite is
  /// not detected if the modification time was reset. Replacing the file with another one of the
  /// same name is not a change: the mapping stays that of the first file.
  void check_unchanged() const { check_stamp(path_, descriptor_, stamp_); }
  /// True if bytes may have changed without check_unchanged() finding out, see
  /// status_has_changed().
  bool status_has_changed() const { return lloyd::status_has_changed(descriptor_, stamp_); }

 private:
  std::string path_;
  std::string shown_path_;
  int descriptor_;
  FileStamp stamp_;
  const char* begin_;
};

/// The path of the registered file that is mapped at this address, printable() for a message; null
/// if there is none. Async-signal-safe.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace lloyd
