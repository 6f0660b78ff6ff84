// NewFile: a file that appears complete or not at all.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace lloyd {

/// The file that writing to `file` would make or replace, as an absolute path: symbolic links are
/// followed, also one whose target does not exist yet. Throws InputError for a chain of links that
/// does not end and for a relative path where the working directory is gone.
std::filesystem::path output_target(const std::filesystem::path& file);

/// Throws InputError unless a file of so many bytes has room in its folder's file system and within
/// this process's limit for a file's size (RLIMIT_FSIZE); the message names both numbers. A file
/// system that does not tell its free space is taken to have enough.
void require_space(const std::filesystem::path& file, std::int64_t bytes);

/// While it lives, no NewFile of this process replaces `file`, under whatever name: its commit
/// throws Error. For files that are in use: a path may become a link to one of them after it was
/// compared with it. A file that is not there is passed over. Call it on one thread.
class ProtectedFile {
 public:
  /// Begins with the file that `file` names now.
  explicit ProtectedFile(const std::filesystem::path& file);
  ~ProtectedFile();
  /// Takes the protection over.
  ProtectedFile(ProtectedFile&& other) noexcept;
  ProtectedFile(const ProtectedFile&) = delete;
  ProtectedFile& operator=(const ProtectedFile&) = delete;

 private:
  dev_t device_ = 0;
  ino_t inode_ = 0;  // 0: none
};

/// Removes the temporary files of this process whose NewFile still lives. Safe in a signal handler
/// that ends the process.
void remove_temporary_files() noexcept;

/// Writes to a temporary file beside the target; `commit` puts it in the target's place. Without a
/// commit the target stays what it was. A target that exists must be a regular file that is not
/// write-protected; the new one gets its mode and, where the system allows it, its owner. Through a
/// symbolic link its target is written.
class NewFile {
 public:
  /// Creates the temporary file. `bytes` is the size that the file will have at least, where that
  /// is known, see require_space(). Throws InputError where no file can be made there, and Error
  /// where the disk is full or the system out of resources.
  explicit NewFile(const std::filesystem::path& file, std::int64_t bytes = 0);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Appends. Throws Error, as the functions below do.
  void write(std::string_view bytes);
  /// Overwrites what was written at that place.
  void write_at(std::int64_t offset, std::string_view bytes);
  /// Puts the file in its place, once. What replaces an existing file is on the disk before.
  void commit();
  /// Where the file is until the commit, for a library that writes to a path.
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
