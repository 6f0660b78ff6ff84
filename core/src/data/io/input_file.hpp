// InputFile: a regular file, opened for reading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <lloyd/data/backing_file.hpp>

namespace lloyd {

/// All functions that read are thread-safe.
class InputFile {
 public:
  /// Opens the file. Throws InputError if that fails or it is not a regular file.
  explicit InputFile(const std::filesystem::path& file);
  /// Takes ownership of the descriptor of an open file; `path` is for messages. Throws as above.
  InputFile(std::string path, int descriptor);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The path, for messages.
  const std::string& path() const { return path_; }
  /// The size in bytes when the file was opened.
  std::int64_t size() const { return stamp_.size; }
  const FileStamp& stamp() const { return stamp_; }
  int descriptor() const { return descriptor_; }

  /// Reads up to `bytes` bytes from `offset` on and returns their number, which is smaller only at
  /// the end of the file. Throws InputError.
  std::int64_t read_some(std::int64_t offset, void* buffer, std::int64_t bytes) const;
  /// Reads exactly `bytes` bytes. Throws InputError, also if the file ends before or was changed
  /// since it was opened.
  void read(std::int64_t offset, void* buffer, std::int64_t bytes) const;
  /// True if another descriptor refers to the same file.
  bool is_open_as(int descriptor) const;
  /// Throws InputError if the file was truncated, extended or overwritten since it was opened.
  /// Replacing it under its name is no change: the file that was opened is still read.
  void check_unchanged() const { check_stamp(path_, descriptor_, stamp_); }
  /// The path if bytes may have changed without check_unchanged() finding out, see
  /// status_has_changed(); else empty.
  std::string touched_path() const {
    return status_has_changed(descriptor_, stamp_) ? path_ : std::string();
  }

 private:
  [[noreturn]] void fail(const char* action) const;

  std::string path_;
  int descriptor_ = -1;
  FileStamp stamp_;
};

}  // namespace lloyd
