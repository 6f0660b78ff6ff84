// NewFile: writes a file that appears complete or not at all.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace lloyd {

/// The file that writing to `file` would create or replace, as an absolute path. Symbolic links are
/// followed, even to targets that do not exist yet. Throws InputError for an empty path, for a
/// cycle of links, and for a relative path if the working directory was deleted.
std::filesystem::path output_target(const std::filesystem::path& file);

/// Throws InputError, with both numbers, unless a file of `bytes` bytes fits into the free space of
/// its file system and within the process's limit on file sizes (RLIMIT_FSIZE). A file system that
/// does not report its free space is taken to have enough.
void require_space(const std::filesystem::path& file, std::int64_t bytes);

/// Protects a file in use: while this object lives, no NewFile of this process replaces `file`
/// under any name; its commit() throws Error instead. This also holds for a path that only becomes
/// a link to the file after the paths were compared. A missing file is ignored. Not thread-safe.
class ProtectedFile {
 public:
  /// Protects the file that `file` names now.
  explicit ProtectedFile(const std::filesystem::path& file);
  ~ProtectedFile();
  /// Takes over the protection.
  ProtectedFile(ProtectedFile&& other) noexcept;
  ProtectedFile(const ProtectedFile&) = delete;
  ProtectedFile& operator=(const ProtectedFile&) = delete;

 private:
  dev_t device_ = 0;
  ino_t inode_ = 0;  // 0: none
};

/// Removes the temporary files of all living NewFile objects of this process. Async-signal-safe;
/// for signal handlers that end the process.
void remove_temporary_files() noexcept;

/// Writes to a temporary file beside the target; commit() renames it to the target. Without a
/// commit the target is unchanged. The first NewFile of a process in a folder removes the temporary
/// files there of killed processes of the same user, boot of the machine and PID namespace. An
/// existing target must be a regular, writable file; the new file gets its mode and, where the
/// system permits, its owner. A symbolic link stays, and its target is written.
class NewFile {
 public:
  /// Creates the temporary file. `bytes` is the minimum size that the file will have, if known; see
  /// require_space(). Throws InputError if a file cannot be created there, and Error if the disk is
  /// full or system resources are exhausted.
  explicit NewFile(const std::filesystem::path& file, std::int64_t bytes = 0);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Appends bytes. Throws Error, like the functions below.
  void write(std::string_view bytes);
  /// Overwrites bytes that were written before.
  void write_at(std::int64_t offset, std::string_view bytes);
  /// Renames the file to its target. May be called once. If it replaces a file, its contents are
  /// flushed to disk before.
  void commit();
  /// The path of the temporary file, for libraries that write to a path.
  const std::filesystem::path& temporary() const { return temporary_; }

 private:
  void create_temporary();
  void copy_ownership();
  void discard();
  [[noreturn]] void fail() const;

  std::filesystem::path name_;  // as given, for messages
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  pid_t owner_;
  std::size_t slot_ = 0;  // see remove_temporary_files()
  bool replaces_ = false;
  std::FILE* stream_ = nullptr;
};

}  // namespace lloyd
