// The caches of data, from sysfs.
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
  std::int64_t size_bytes = 0;  ///< of each
  std::int64_t instances = 0;
  std::int64_t shared_by = 0;  ///< logical processors of the instance that has most
};

/// By level, the larger ones first; without instruction caches. Empty where the system does not
/// say, as in some virtual machines.
std::vector<Cache> read_caches(const SystemFiles& files = SystemFiles());

/// Bytes of all caches of the highest level; 0 where there are none.
std::int64_t last_level_bytes(const std::vector<Cache>& caches);

}  // namespace lloyd::machine
