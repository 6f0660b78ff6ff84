// The processors that the calling thread may use: its affinity mask, and the CPU quota of its
// control groups.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <lloyd/plugin/sdk/machine/control_groups.hpp>

namespace lloyd {

/// A set of logical processors, for the affinity of threads.
class AffinityMask {
 public:
  /// The processors that the calling thread may run on; empty if they are unknown.
  static AffinityMask of_this_thread() {
    // The kernel refuses a mask smaller than its maximum number of processors.
    constexpr int kMaxProcessors = 1 << 20;
    for (int size = CPU_SETSIZE; size <= kMaxProcessors; size *= 2) {
      AffinityMask mask(size);
      if (::sched_getaffinity(0, mask.bytes(), mask.sets_.data()) == 0) return mask;
    }
    return AffinityMask(CPU_SETSIZE);
  }
  /// `processors`: at least one, none negative.
  static AffinityMask of(const std::vector<int>& processors) {
    AffinityMask mask(*std::max_element(processors.begin(), processors.end()) + 1);
    for (const int processor : processors) {
      CPU_SET_S(static_cast<std::size_t>(processor), mask.bytes(), mask.sets_.data());
    }
    return mask;
  }

  /// Restricts a thread to the processors. Returns false, with errno set, if the system refuses.
  bool apply(pthread_t thread) const {
    const int error = ::pthread_setaffinity_np(thread, bytes(), sets_.data());
    if (error != 0) errno = error;
    return error == 0;
  }

  /// True if the mask has the processor with this number; false for numbers beyond the mask.
  bool has(int processor) const {
    return processor >= 0 &&
           CPU_ISSET_S(static_cast<std::size_t>(processor), bytes(), sets_.data()) != 0;
  }
  /// The processors, ascending.
  std::vector<int> processors() const {
    std::vector<int> found;
    for (int p = 0; p < static_cast<int>(sets_.size()) * CPU_SETSIZE; ++p) {
      if (has(p)) found.push_back(p);
    }
    return found;
  }
  /// The number of processors.
  int count() const { return CPU_COUNT_S(bytes(), sets_.data()); }

  /// True if both have the same processors.
  bool operator==(const AffinityMask& other) const {
    return bytes() == other.bytes() && CPU_EQUAL_S(bytes(), sets_.data(), other.sets_.data()) != 0;
  }

 private:
  // An empty mask with room for at least `size` processors.
  explicit AffinityMask(int size)
      : sets_(static_cast<std::size_t>((size + CPU_SETSIZE - 1) / CPU_SETSIZE)) {}
  std::size_t bytes() const { return sets_.size() * sizeof(cpu_set_t); }

  std::vector<cpu_set_t> sets_;
};

namespace usable_processors_detail {

/// The whole numbers at the start of a file, up to the first word that is not one.
inline std::vector<std::int64_t> numbers_in(const std::string& file) {
  std::ifstream stream(file);
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; stream >> number;) numbers.push_back(number);
  return numbers;
}

/// The first number of `time` divided by that of `period`; 0 if one is missing or not positive.
inline double quotient(const std::vector<std::int64_t>& time,
                       const std::vector<std::int64_t>& period) {
  if (time.empty() || period.empty() || time[0] <= 0 || period[0] <= 0) return 0;
  return static_cast<double>(time[0]) / static_cast<double>(period[0]);
}

/// The quota of a control group; 0: none.
inline double quota_of(const ControlGroup& group) {
  if (!group.version_2) {  // -1: no quota
    return quotient(numbers_in(group.folder + "/cpu.cfs_quota_us"),
                    numbers_in(group.folder + "/cpu.cfs_period_us"));
  }
  const std::vector<std::int64_t> maximum =
      numbers_in(group.folder + "/cpu.max");  // "max 100000": none
  return maximum.size() < 2 ? 0 : quotient(maximum, {maximum[1]});
}

}  // namespace usable_processors_detail

/// Processor time per wall time that the control groups (version 1 or 2) of this process allow, the
/// smallest of all enclosing groups: 1.5 means one and a half processors. 0 if there is no quota.
/// `root`: the folder that holds proc and sys, for tests.
inline double processor_quota(const std::string& root = {}) {
  return smallest_group_limit(root, usable_processors_detail::quota_of);
}

/// Number of threads that `allowed` processors and a quota (0: none) can run at once, at least 1.
/// A quota of one and a half processors serves two threads.
inline int usable_processors(int allowed, double quota) {
  const double processors = std::max(allowed, 1);
  return static_cast<int>(quota > 0 ? std::min(processors, std::ceil(quota)) : processors);
}

/// Number of threads that the calling thread's affinity mask and the process's quota can run at
/// once, at least 1. The quota is read once per process.
inline int usable_processors() {
  static const double quota = processor_quota();
  return usable_processors(AffinityMask::of_this_thread().count(), quota);
}

}  // namespace lloyd
