// The order in which the threads of a process take processors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lloyd {

/// How the logical processors of cores with simultaneous multithreading are numbered: a core has
/// `threads` processors, whose numbers are `stride` apart. Assumes that all cores are alike.
struct CoreNumbering {
  int threads = 1;  ///< processors of a core
  int stride = 1;   ///< difference of the numbers of two processors of a core

  /// A number that is the same for the processors of one core, and different for other cores.
  int core_of(int processor) const {
    return processor / (stride * threads) * stride + processor % stride;
  }
  /// From the kernel's list of the processors of one core, such as "2-3" or "2,18". If the list is
  /// empty or has another form, one processor per core.
  static CoreNumbering of_siblings(const std::string& list) {
    std::size_t end = 0;
    const auto number = [&](std::size_t begin) {
      int value = -1;
      for (end = begin; end < list.size() && list[end] >= '0' && list[end] <= '9'; ++end) {
        if (value > kMaxProcessor) return -1;
        value = std::max(value, 0) * 10 + (list[end] - '0');
      }
      return value;
    };
    const int first = number(0);
    const std::size_t separator = end;
    if (first < 0 || separator >= list.size()) return {};
    const int second = number(separator + 1);
    if (second <= first) return {};
    if (list[separator] == '-') return {second - first + 1, 1};
    const auto commas = std::count(list.begin(), list.end(), ',');
    return {static_cast<int>(commas) + 1, second - first};
  }
  /// Reads the numbering from sysfs for the core of `processor`. `root`: prefix of /sys, for tests.
  static CoreNumbering of_processor(int processor, const std::string& root = {}) {
    std::ifstream file(root + "/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                       "/topology/thread_siblings_list");
    std::string list;
    std::getline(file, list);
    return of_siblings(list);
  }

 private:
  static constexpr int kMaxProcessor = 1 << 20;
};

/// Order in which worker threads are placed, in a process whose first thread is on processor `own`:
/// `allowed` without `own`, one processor of each idle core first, then the SMT siblings. If `own`
/// is not allowed, `allowed` as it is.
inline std::vector<int> worker_processors(std::vector<int> allowed, int own,
                                          const CoreNumbering& numbering) {
  // Begins with `own`, because processors with neighbouring numbers are close in the machine.
  const auto at = std::find(allowed.begin(), allowed.end(), own);
  if (at == allowed.end()) return allowed;
  std::rotate(allowed.begin(), at, allowed.end());
  std::map<int, int> users;  // by core
  std::vector<std::pair<int, int>> ranked;
  for (const int processor : allowed)
    ranked.emplace_back(users[numbering.core_of(processor)]++, processor);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> order;
  for (const auto& [rank, processor] : ranked) {
    if (processor != own) order.push_back(processor);
  }
  return order;
}

}  // namespace lloyd
