// process_ends: waits for a process that is not a child of the test.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace lloyd::apps {

/// True if a process ends within 60 seconds. A zombie counts as ended: if process 1 does not reap
/// orphans, as in many containers, it stays forever.
inline bool process_ends(pid_t pid) {
  const auto has_ended = [&] {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string stat;
    if (!std::getline(file, stat)) return true;
    const std::size_t name_end = stat.rfind(") ");
    return name_end != std::string::npos && stat.compare(name_end + 2, 1, "Z") == 0;
  };
  for (int tries = 0; tries < 6000 && !has_ended(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return has_ended();
}

}  // namespace lloyd::apps
