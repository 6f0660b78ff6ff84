#include "machine/processors/threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "machine/processors/affinity.hpp"
#include "machine/processors/cpu.hpp"
#include "machine/system/system_files.hpp"

namespace lloyd::machine {
namespace {

// The part of "12 (a name) R 1 ..." after the name, which may contain blanks and parentheses.
std::string after_name(const std::string& stat) {
  const std::size_t end = stat.rfind(") ");
  return end == std::string::npos ? std::string() : stat.substr(end + 2);
}

// True if the process or a descendant has a running thread other than `self`. `process`: a pid, or
// "self".
bool has_running_thread(const SystemFiles& files, std::string_view process, std::int64_t self) {
  const std::string tasks = fmt::format("/proc/{}/task", process);
  for (const std::string& thread : files.numbered(tasks, "")) {
    const std::string folder = fmt::format("{}/{}/", tasks, thread);
    const std::string stat = after_name(files.text(folder + "stat"));
    if (number_of(thread) != self && stat.starts_with('R')) return true;
    std::istringstream children(files.text(folder + "children"));
    for (std::string child; children >> child;) {
      if (has_running_thread(files, child, self)) return true;
    }
  }
  return false;
}

bool shares_core(int processor, const std::set<int>& taken) {
  const std::vector<int> siblings = processors_of_core(processor);
  return std::any_of(siblings.begin(), siblings.end(),
                     [&](int sibling) { return taken.contains(sibling); });
}

}  // namespace

bool wait_for_idle_threads(std::chrono::milliseconds limit) {
  constexpr std::chrono::microseconds kApart{200};  // polling interval
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const SystemFiles files;
  const std::int64_t self = ::syscall(SYS_gettid);
  while (has_running_thread(files, "self", self)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kApart);
  }
  return true;
}

std::set<int> processors_of_other_threads() {
  // Index of "processor" (field 39 of proc_pid_stat(5)) after the name, from 0.
  constexpr int kProcessor = 39 - 3;
  const SystemFiles files;
  const std::int64_t self = ::syscall(SYS_gettid);
  std::set<int> processors;
  for (const std::string& thread : files.numbered("/proc/self/task", "")) {
    if (number_of(thread) == self) continue;
    const std::string stat = after_name(files.text("/proc/self/task/" + thread + "/stat"));
    if (stat.starts_with('X') || stat.starts_with('Z')) continue;  // the thread is ending
    std::istringstream fields(stat);
    std::string field;
    for (int f = 0; f <= kProcessor; ++f) fields >> field;
    const std::int64_t processor = number_of(field);
    if (fields && processor >= 0) processors.insert(static_cast<int>(processor));
  }
  return processors;
}

int begin_on(int processor) {
  const std::set<int> taken = processors_of_other_threads();
  if (taken.empty()) return move_to(processor);
  if (!taken.contains(current_processor())) return current_processor();
  std::vector<int> free = allowed_processors();
  std::erase_if(free, [&](int allowed) { return taken.contains(allowed); });
  if (free.empty()) return current_processor();
  free = fastest_processors(free);
  const auto apart = std::find_if_not(free.begin(), free.end(),
                                      [&](int allowed) { return shares_core(allowed, taken); });
  return move_to(apart == free.end() ? free.front() : *apart);
}

}  // namespace lloyd::machine
