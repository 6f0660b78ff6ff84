// The operating system, its load, and the build of this program.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "machine/system/system_files.hpp"

namespace lloyd::machine {

/// "Linux 6.1.0 (Debian GNU/Linux 12 (bookworm))".
std::string operating_system(const SystemFiles& files = SystemFiles());
/// Mean number of running threads over the last minute; negative if unknown.
double load_average(const SystemFiles& files = SystemFiles());

/// Current number of threads of this process; 0 if unknown.
std::int64_t process_threads(const SystemFiles& files = SystemFiles());

using NamedTexts = std::vector<std::pair<std::string, std::string>>;
/// Names and values of the set environment variables that affect the loader, the plugins and their
/// runtimes.
NamedTexts set_variables();

/// How this program was built.
struct Build {
  std::string version;   ///< Lloyd's version
  std::string compiler;  ///< "gcc 12.2.0"
  std::string type;      ///< "Release"
  std::string flags;     ///< compiler flags that affect code generation
  NamedTexts libraries;  ///< name and version of the libraries built with; includes "CUDA" if used
  std::string commit;    ///< git commit, with "-dirty" if files were modified; empty if unknown
  bool optimized = false;
  bool sanitized = false;
};
Build this_build();

}  // namespace lloyd::machine
