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
/// Mean number of running threads over the last minute; negative where not known.
double load_average(const SystemFiles& files = SystemFiles());

/// Threads of this process now; 0 where not known.
std::int64_t process_threads(const SystemFiles& files = SystemFiles());

using NamedTexts = std::vector<std::pair<std::string, std::string>>;
/// The environment variables that the loader, the plugins and their runtimes look at: name and
/// value of those that are set.
NamedTexts set_variables();

/// How this program was built.
struct Build {
  std::string version;   ///< of Lloyd
  std::string compiler;  ///< "gcc 12.2.0"
  std::string type;      ///< "Release"
  std::string flags;     ///< those that change the code, not the warnings
  NamedTexts libraries;  ///< built with: name and version, "CUDA" among them where there was one
  std::string commit;  ///< of git, with "-dirty" where files had changed; empty where there is none
  bool optimized = false;
  bool sanitized = false;
};
Build this_build();

}  // namespace lloyd::machine
