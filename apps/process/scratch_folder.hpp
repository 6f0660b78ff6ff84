// ScratchFolder: a temporary folder with the lifetime of the object.
#pragma once

#include <filesystem>

#include "ipc/descriptor.hpp"
#include "process/spawned_process.hpp"

namespace lloyd::apps {

/// If this process is killed, a helper process removes the folder.
class ScratchFolder {
 public:
  /// Creates a folder in `parent`, an absolute path; empty: in the system's folder for temporary
  /// files (TMPDIR). Throws Error.
  explicit ScratchFolder(const std::filesystem::path& parent = {});
  /// Removes the folder and its content.
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Path of a file in the folder.
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  void remove();

  std::filesystem::path path_;
  Descriptor alive_;  ///< write end of the helper's input; closes when this process ends in any way
  SpawnedProcess remover_{SpawnedProcess::Reach::process};
};

}  // namespace lloyd::apps
