#include "machine/idle_threads.hpp"

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

// "12 (a name) R 1 ...": the name may have blanks and parentheses.
bool is_running(const std::string& stat) {
  const std::size_t end = stat.rfind(')');
  return end != std::string::npos && stat.compare(end, 3, ") R") == 0;
}

bool has_running_thread(const SystemFiles& files, std::int64_t process, std::int64_t self) {
  const std::string tasks = fmt::format("/proc/{}/task", process);
  for (const std::string& thread : files.numbered(tasks, "")) {
    const std::string folder = fmt::format("{}/{}/", tasks, thread);
    if (number_of(thread) != self && is_running(files.text(folder + "stat"))) return true;
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

}  // namespace lloyd::machine
