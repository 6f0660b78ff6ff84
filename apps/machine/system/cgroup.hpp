// CgroupLimits: what a container or a batch system allows this process.
#pragma once

#include <cstdint>

#include "machine/system/system_files.hpp"

namespace lloyd::machine {

/// The tightest limits of the process's control groups and their parents; 0: none.
struct CgroupLimits {
  double cpus = 0;  ///< processors' worth of time, e.g. 1.5
  std::int64_t memory_bytes = 0;
};

/// Of version 1, version 2, or both side by side.
CgroupLimits read_cgroup_limits(const SystemFiles& files = SystemFiles());

}  // namespace lloyd::machine
