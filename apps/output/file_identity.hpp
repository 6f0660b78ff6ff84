// FileIdentity: whether two paths name one file.
#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace lloyd::apps {

/// Equal for paths that reach one file, by whatever links, mounts or spelling: of a file that
/// exists, device and inode; of one that writing would make, those of its folder, and its name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  std::string name;  ///< empty for a file that exists; the whole path where its folder does not

  bool operator==(const FileIdentity&) const = default;
};

/// Throws InputError, see output_target().
FileIdentity identify(const std::filesystem::path& file);

/// Of a file that this process has open, such as standard output; one with inode 0, which no file
/// has, unless it is a regular file.
FileIdentity identify(int descriptor);

}  // namespace lloyd::apps
