// BackingFile: the file that values in memory are mapped from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lloyd {

/// Size and times of a file: they tell that its bytes may have changed.
struct FileStamp {
  std::int64_t size = 0;                ///< bytes
  std::int64_t seconds = 0;             ///< of the modification time, since 1970
  std::int64_t nanoseconds = 0;         ///< of it, beyond the seconds
  std::int64_t status_seconds = 0;      ///< of the status-change time (ctime), since 1970
  std::int64_t status_nanoseconds = 0;  ///< of it, beyond the seconds
};

/// The stamp of an open file; none where the system does not say, and errno is set.
std::optional<FileStamp> read_stamp(int descriptor);

/// Throws InputError unless the open file `path` still has that size and modification time.
void check_stamp(const std::string& path, int descriptor, const FileStamp& stamp);

/// Whether the status-change time of an open file is no longer that of the stamp, or not known. A
/// program can put back the modification time of a file that it overwrote, but not this time. It
/// also changes with the file's name, links, owner or mode: only its bytes tell.
bool status_has_changed(int descriptor, const FileStamp& stamp);

/// While it lives, [begin, begin + size) is a mapping of a file from its first byte on.
class BackingFile {
 public:
  /// Keeps a duplicate of `descriptor`. `stamp` is the file's when its values were first read.
  /// Throws Error where there are no descriptors left.
  BackingFile(std::string path, int descriptor, const FileStamp& stamp, const void* begin,
              std::size_t size);
  ~BackingFile();
  BackingFile(const BackingFile&) = delete;
  BackingFile& operator=(const BackingFile&) = delete;

  /// The file's path, as it was opened.
  const std::string& path() const { return path_; }
  /// The open file.
  int descriptor() const { return descriptor_; }
  /// The file's stamp when its values were first read.
  const FileStamp& stamp() const { return stamp_; }
  /// Where the mapping, and with it the file, begins.
  const char* begin() const { return begin_; }
  /// Throws InputError when the file was cut, extended or overwritten since, unless the
  /// modification time was put back. Another file that took its name is no change: the mapping
  /// stays that of the first.
  void check_unchanged() const { check_stamp(path_, descriptor_, stamp_); }
  /// Whether bytes may have changed that check_unchanged() did not find, see status_has_changed().
  bool status_has_changed() const { return lloyd::status_has_changed(descriptor_, stamp_); }

 private:
  std::string path_;
  std::string shown_path_;
  int descriptor_;
  FileStamp stamp_;
  const char* begin_;
};

/// The path of the file that is mapped at this address, printable() for a message; null where none
/// is. A signal handler may call it.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace lloyd
