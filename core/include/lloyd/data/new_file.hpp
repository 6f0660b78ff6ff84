// NewFile: a file that appears complete or not at all.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace lloyd {

/// Writes to a temporary file beside the target; `commit` puts it in the target's place. Without a
/// commit the target stays what it was. A target that exists must be a regular file. All functions
/// throw Error with the system's reason.
class NewFile {
 public:
  /// Creates the temporary file.
  explicit NewFile(const std::filesystem::path& file);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Appends.
  void write(std::string_view bytes);
  /// Overwrites what was written at that place.
  void write_at(std::int64_t offset, std::string_view bytes);
  /// Puts the file in its place, once.
  void commit();
  /// Where the file is until the commit, for a library that writes to a path.
  const std::filesystem::path& temporary() const { return temporary_; }

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::FILE* stream_ = nullptr;
};

}  // namespace lloyd
