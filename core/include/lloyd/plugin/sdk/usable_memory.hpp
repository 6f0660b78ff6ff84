// The memory that this process may use: that of the machine, and the limit of its control groups.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

namespace lloyd {

namespace usable_memory_detail {

/// The smaller of two limits; 0: none.
inline std::int64_t smaller_limit(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

/// The limit in a file of a control group; 0: none.
inline std::int64_t file_limit(const std::string& file) {
  // Without a limit, the file of version 1 has the largest multiple of the page size below 2^63,
  // and that of version 2 has "max".
  constexpr std::int64_t kNone = std::int64_t{1} << 62;
  std::ifstream stream(file);
  std::int64_t bytes = 0;
  if (!(stream >> bytes)) return 0;
  return bytes > 0 && bytes < kNone ? bytes : 0;
}

/// The smallest limit in the files of this name in the folder `mount` + `path` and its parents up
/// to `mount`; 0: none. In a container the path may be that of the host. Then only `mount` exists;
/// the other folders count as without a limit.
inline std::int64_t smallest_limit(const std::string& mount, std::string path,
                                   const std::string& name) {
  std::int64_t limit = file_limit(mount + "/" + name);
  while (path.size() > 1) {
    limit = smaller_limit(limit, file_limit(mount + path + "/" + name));
    path.resize(path.rfind('/'));
  }
  return limit;
}

/// The limit of the control group in a line of /proc/self/cgroup; 0: none. "0::/path" is version 2,
/// "4:memory:/path" is version 1. `mounts`: the folder /sys/fs/cgroup.
inline std::int64_t line_limit(const std::string& line, const std::string& mounts) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
  if (second == line.npos || line.compare(second + 1, 1, "/") != 0) return 0;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string path = line.substr(second + 1);
  if (!controllers.empty()) {
    return smallest_limit(mounts + "/" + controllers, path, "memory.limit_in_bytes");
  }
  return smaller_limit(smallest_limit(mounts, path, "memory.max"),
                       smallest_limit(mounts + "/unified", path, "memory.max"));
}

}  // namespace usable_memory_detail

/// Memory that the control groups (version 1 or 2) of this process allow, the smallest limit of all
/// enclosing groups, in bytes. 0 if there is no limit. `root`: the folder that holds proc and sys,
/// for tests.
inline std::int64_t group_memory_limit(const std::string& root = {}) {
  namespace detail = usable_memory_detail;
  std::int64_t limit = 0;
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    limit = detail::smaller_limit(limit, detail::line_limit(line, root + "/sys/fs/cgroup"));
  }
  return limit;
}

/// The smaller of the machine's memory and the limit of this process's control groups, in bytes.
/// The limit is read once per process.
inline std::int64_t usable_memory() {
  static const std::int64_t limit = group_memory_limit();
  const std::int64_t machine =
      std::int64_t{::sysconf(_SC_PHYS_PAGES)} * std::int64_t{::sysconf(_SC_PAGESIZE)};
  return usable_memory_detail::smaller_limit(machine, limit);
}

}  // namespace lloyd
