// The operating system, its load, and the build of this program.
#pragma once

#include <string>

#include "machine/system_files.hpp"

namespace lloyd::machine {

/// "Linux 6.1.0 (Debian GNU/Linux 12 (bookworm))".
std::string operating_system(const SystemFiles& files = SystemFiles());
/// Mean number of running threads over the last minute; negative where not known.
double load_average(const SystemFiles& files = SystemFiles());

/// How this program was built.
struct Build {
  std::string version;   ///< of Lloyd
  std::string compiler;  ///< "gcc 12.2.0"
  std::string type;      ///< "Release"
  std::string flags;     ///< those that change the code, not the warnings
  bool optimized = false;
  bool sanitized = false;
};
Build this_build();

}  // namespace lloyd::machine
