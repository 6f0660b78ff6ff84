// Limits of the control groups (version 1 or 2) that this process belongs to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace lloyd {

/// The smaller of two limits; 0 means no limit.
template <class Limit>
Limit smaller_limit(Limit a, Limit b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

/// A control group.
struct ControlGroup {
  std::string folder;  ///< with the files of its limits
  bool version_2;      ///< else version 1
};

/// The control group in a line of /proc/self/cgroup and its parents, in every folder where they may
/// be mounted. "0::/path" is version 2, "4:cpu,cpuacct:/path" is version 1. `mounts`: the folder
/// /sys/fs/cgroup. In a container the path may be the host's, so only the mount folders are sure to
/// exist.
inline std::vector<ControlGroup> control_groups_in(const std::string& line,
                                                   const std::string& mounts) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
  if (second == line.npos || line.compare(second + 1, 1, "/") != 0) return {};
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string path = line.substr(second + 1);
  const bool version_2 = controllers.empty();
  std::vector<std::string> roots{mounts + "/" + controllers};
  if (version_2) roots = {mounts, mounts + "/unified"};
  if (controllers.find(',') != controllers.npos) {
    // The folder's name may list the controllers in another order; each controller has a symbolic
    // link to it.
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) roots.push_back(mounts + "/" + name);
  }
  std::vector<ControlGroup> groups;
  for (const std::string& root : roots) {
    groups.push_back({root, version_2});
    for (std::string left = path; left.size() > 1; left.resize(left.rfind('/'))) {
      groups.push_back({root + left, version_2});
    }
  }
  return groups;
}

/// The smallest limit_of(group) for the groups of this process and their parents; 0: none. `root`:
/// the folder that holds proc and sys, for tests.
template <class LimitOf>
auto smallest_group_limit(const std::string& root, const LimitOf& limit_of) {
  decltype(limit_of(ControlGroup())) smallest = 0;
  std::ifstream lines(root + "/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    for (const ControlGroup& group : control_groups_in(line, root + "/sys/fs/cgroup")) {
      smallest = smaller_limit(smallest, limit_of(group));
    }
  }
  return smallest;
}

}  // namespace lloyd
