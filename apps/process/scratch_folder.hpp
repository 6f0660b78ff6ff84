// ScratchFolder: a folder for as long as the object lives.
#pragma once

#include <filesystem>

#include "ipc/descriptor.hpp"
#include "process/spawned_process.hpp"

namespace lloyd::apps {

/// Should this process be killed, a process beside it removes the folder.
class ScratchFolder {
 public:
  /// Makes one in the system's folder for temporary files. Throws Error.
  ScratchFolder();
  /// Removes it and what is in it.
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Its path.
  const std::filesystem::path& path() const { return path_; }
  /// A file's path in it.
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  void remove();

  std::filesystem::path path_;
  Descriptor alive_;  ///< its other end closes when this process ends, however it does
  SpawnedProcess remover_{SpawnedProcess::Reach::process};
};

}  // namespace lloyd::apps
