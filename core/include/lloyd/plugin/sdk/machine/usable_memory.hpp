// The memory that this process may use: that of the machine, and the limit of its control groups.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include <lloyd/plugin/sdk/machine/control_groups.hpp>

namespace lloyd {

/// Memory that the control groups (version 1 or 2) of this process allow, the smallest limit of all
/// enclosing groups, in bytes. 0 if there is no limit. `root`: the folder that holds proc and sys,
/// for tests.
inline std::int64_t group_memory_limit(const std::string& root = {}) {
  return smallest_group_limit(root, [](const ControlGroup& group) -> std::int64_t {
    // Without a limit, the file of version 1 has the largest multiple of the page size below 2^63,
    // and that of version 2 has "max".
    constexpr std::int64_t kNone = std::int64_t{1} << 62;
    std::ifstream file(group.folder + (group.version_2 ? "/memory.max" : "/memory.limit_in_bytes"));
    std::int64_t bytes = 0;
    if (!(file >> bytes)) return 0;
    return bytes > 0 && bytes < kNone ? bytes : 0;
  });
}

/// The smaller of the machine's memory and the limit of this process's control groups, in bytes.
/// The limit is read once per process.
inline std::int64_t usable_memory() {
  static const std::int64_t limit = group_memory_limit();
  const std::int64_t machine =
      std::int64_t{::sysconf(_SC_PHYS_PAGES)} * std::int64_t{::sysconf(_SC_PAGESIZE)};
  return smaller_limit(machine, limit);
}

}  // namespace lloyd
