// FileIdentity: detects that two paths name the same file.
#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace lloyd::apps {

/// Equal for all paths of one file, regardless of links, mounts or spelling. An existing file is
/// identified by its device and inode, a file to be created by those of its folder and its name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  std::string name;  ///< empty for an existing file; the whole path if the folder does not exist

  bool operator==(const FileIdentity&) const = default;
};

/// Resolves links as output_target() does. Throws InputError as that does.
FileIdentity identify(const std::filesystem::path& file);

/// Identity of an open file, such as standard output. Inode 0, which no file has, unless it is a
/// regular file.
FileIdentity identify(int descriptor);

}  // namespace lloyd::apps
