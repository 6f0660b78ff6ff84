#include "machine/system/cgroup.hpp"

#include <lloyd/plugin/sdk/machine/usable_memory.hpp>
#include <lloyd/plugin/sdk/machine/usable_processors.hpp>

namespace lloyd::machine {

CgroupLimits read_cgroup_limits(const SystemFiles& files) {
  return {processor_quota(files.root()), group_memory_limit(files.root())};
}

}  // namespace lloyd::machine
