// CgroupLimits: limits set by a container or a batch system.
#pragma once

#include <cstdint>

#include "machine/system/system_files.hpp"

namespace lloyd::machine {

/// The tightest limits of the process's control groups and their parents; 0: no limit.
struct CgroupLimits {
  double cpus = 0;  ///< CPU time quota as a number of processors, e.g. 1.5
  std::int64_t memory_bytes = 0;
};

/// Supports control groups version 1, version 2, and both together.
CgroupLimits read_cgroup_limits(const SystemFiles& files = SystemFiles());

}  // namespace lloyd::machine
