#include "machine/threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "machine/system_files.hpp"

namespace lloyd::machine {
namespace {

// Of "12 (a name) R 1 ..." what follows the name, which may have blanks and parentheses.
std::string after_name(const std::string& stat) {
  const std::size_t end = stat.rfind(") ");
  return end == std::string::npos ? std::string() : stat.substr(end + 2);
}

bool has_running_thread(const SystemFiles& files, std::int64_t process, std::int64_t self) {
  const std::string tasks = fmt::format("/proc/{}/task", process);
  for (const std::string& thread : files.numbered(tasks, "")) {
    const std::string folder = fmt::format("{}/{}/", tasks, thread);
    if (number_of(thread) != self && after_name(files.text(folder + "stat")).starts_with("R"))
      return true;
    std::istringstream children(files.text(folder + "children"));
    for (std::int64_t child = 0; children >> child;) {
      if (has_running_thread(files, child, self)) return true;
    }
  }
  return false;
}

}  // namespace

bool wait_for_idle_threads(std::chrono::milliseconds limit) {
  constexpr std::chrono::microseconds kApart{200};  // of looks
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const SystemFiles files;
  const std::int64_t self = ::syscall(SYS_gettid);
  while (has_running_thread(files, ::getpid(), self)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kApart);
  }
  return true;
}

std::set<int> processors_of_other_threads() {
  constexpr int kProcessor = 39 - 3;  // field of proc_pid_stat(5), less those up to the name
  const SystemFiles files;
  const std::int64_t self = ::syscall(SYS_gettid);
  std::set<int> processors;
  for (const std::string& thread : files.numbered("/proc/self/task", "")) {
    if (number_of(thread) == self) continue;
    std::istringstream fields(after_name(files.text("/proc/self/task/" + thread + "/stat")));
    std::string field;
    for (int f = 0; f <= kProcessor; ++f) fields >> field;
    const std::int64_t processor = number_of(field);
    if (fields && processor >= 0) processors.insert(static_cast<int>(processor));
  }
  return processors;
}

}  // namespace lloyd::machine
