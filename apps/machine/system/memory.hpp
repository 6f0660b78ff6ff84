// Memory of the machine, and what this process may use of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "machine/system/cgroup.hpp"
#include "machine/system/system_files.hpp"

namespace lloyd::machine {

/// In bytes; 0: not known.
struct Memory {
  std::int64_t total = 0;
  std::int64_t available = 0;  ///< to a new program without swapping
};

Memory read_memory(const SystemFiles& files = SystemFiles());

/// The most that was resident of this process so far, files that it has mapped included, in bytes;
/// 0: not known.
std::int64_t peak_memory(const SystemFiles& files = SystemFiles());

/// The total or the control group's limit, whichever is less; 0: not known.
inline std::int64_t usable_memory(const Memory& memory, const CgroupLimits& limits) {
  if (limits.memory_bytes == 0) return memory.total;
  return memory.total == 0 ? limits.memory_bytes : std::min(memory.total, limits.memory_bytes);
}

}  // namespace lloyd::machine
