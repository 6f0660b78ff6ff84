#include "machine/system/cgroup.hpp"

#include <string>
#include <vector>

#include <lloyd/plugin/sdk/usable_processors.hpp>

namespace lloyd::machine {
namespace {

// The folder `mount`/path and its parents up to `mount`. In a container the path may be the host's,
// of which only the mount exists: the other folders read as empty.
std::vector<std::string> folders_up(const std::string& mount, std::string path) {
  std::vector<std::string> folders;
  while (path.size() > 1) {
    folders.push_back(mount + path);
    path.resize(path.rfind('/'));
  }
  folders.push_back(mount);
  return folders;
}

void tighten(std::int64_t& limit, std::int64_t value) {
  if (value > 0 && (limit == 0 || value < limit)) limit = value;
}

void read_version_2(const SystemFiles& files, const std::string& folder, CgroupLimits& limits) {
  // "max" or bytes.
  tighten(limits.memory_bytes, number_of(files.text(folder + "/memory.max")));
}

void read_version_1(const SystemFiles& files, const std::string& folder, CgroupLimits& limits) {
  // "No limit" is stored as the largest multiple of the page size below 2^63.
  constexpr std::int64_t kNone = std::int64_t{1} << 62;
  const std::int64_t bytes = number_of(files.text(folder + "/memory.limit_in_bytes"));
  if (bytes < kNone) tighten(limits.memory_bytes, bytes);
}

}  // namespace

CgroupLimits read_cgroup_limits(const SystemFiles& files) {
  CgroupLimits limits;
  limits.cpus = processor_quota(files.root());
  const std::string groups = files.text("/proc/self/cgroup");
  for (const std::string_view line : lines_of(groups)) {
    // "0::/path" is version 2; "4:cpu,cpuacct:/path" is version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == line.npos ? first : first + 1);
    if (second == line.npos) continue;
    const std::string controllers(line.substr(first + 1, second - first - 1));
    const std::string path(line.substr(second + 1));
    if (!path.starts_with('/')) continue;
    if (controllers.empty()) {
      for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        for (const std::string& folder : folders_up(mount, path)) {
          read_version_2(files, folder, limits);
        }
      }
    } else {
      for (const std::string& folder : folders_up("/sys/fs/cgroup/" + controllers, path)) {
        read_version_1(files, folder, limits);
      }
    }
  }
  return limits;
}

}  // namespace lloyd::machine
