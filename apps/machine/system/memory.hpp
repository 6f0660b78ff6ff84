// Memory of the machine, and the part usable by this process.
#pragma once

#include <algorithm>
#include <cstdint>

#include "machine/system/cgroup.hpp"
#include "machine/system/system_files.hpp"

namespace lloyd::machine {

/// In bytes; 0: unknown.
struct Memory {
  std::int64_t total = 0;
  std::int64_t available = 0;  ///< available to a new program without swapping
};

Memory read_memory(const SystemFiles& files = SystemFiles());

/// Peak resident memory of this process in bytes, including mapped files; 0: unknown.
std::int64_t peak_memory(const SystemFiles& files = SystemFiles());

/// The smaller of total memory and the control group's limit, in bytes; 0: unknown.
inline std::int64_t usable_memory(const Memory& memory, const CgroupLimits& limits) {
  if (limits.memory_bytes == 0) return memory.total;
  return memory.total == 0 ? limits.memory_bytes : std::min(memory.total, limits.memory_bytes);
}

}  // namespace lloyd::machine
