// Data caches, from sysfs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/system/system_files.hpp"

namespace lloyd::machine {

/// Caches of one level and size.
struct Cache {
  int level = 0;
  std::string type;             ///< "Data" or "Unified"
  std::int64_t size_bytes = 0;  ///< size of one instance
  std::int64_t instances = 0;
  std::int64_t shared_by = 0;  ///< logical processors per instance; the maximum if instances differ
};

/// Sorted by level, then by descending size; without instruction caches. Empty if unknown, as in
/// some virtual machines.
std::vector<Cache> read_caches(const SystemFiles& files = SystemFiles());

/// Total bytes of all caches of the highest level; 0 if none are known.
std::int64_t last_level_bytes(const std::vector<Cache>& caches);

}  // namespace lloyd::machine
