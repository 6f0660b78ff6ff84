// InputFile: a regular file that is open for reading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <lloyd/data/backing_file.hpp>

namespace lloyd {

/// All reading functions may be called from several threads at once.
class InputFile {
 public:
  /// Throws InputError when the file cannot be opened or is not a regular file.
  explicit InputFile(const std::filesystem::path& file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The path, for messages.
  const std::string& path() const { return path_; }
  /// In bytes, when it was opened.
  std::int64_t size() const { return stamp_.size; }
  const FileStamp& stamp() const { return stamp_; }
  int descriptor() const { return descriptor_; }

  /// Reads up to `bytes` bytes from `offset` on and returns how many: fewer only at the file's end.
  /// Throws InputError.
  std::int64_t read_some(std::int64_t offset, void* buffer, std::int64_t bytes) const;
  /// Reads exactly so many bytes. Throws InputError, also when the file ends before or was changed
  /// since it was opened.
  void read(std::int64_t offset, void* buffer, std::int64_t bytes) const;
  /// Whether another descriptor is open on the same file.
  bool is_open_as(int descriptor) const;
  /// Throws InputError when the file was cut, extended or overwritten since it was opened. Another
  /// file that took its name is no change: what was opened is read on.
  void check_unchanged() const { check_stamp(path_, descriptor_, stamp_); }
  /// The path if bytes may have changed that check_unchanged() did not find, see
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
