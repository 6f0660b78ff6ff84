#include "experiment/machine.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

namespace lloyd::experiment {
namespace {

// The text after `key` and ':' in a file of such lines; the first one where there are several.
std::string field(const char* file, std::string_view key) {
  std::ifstream stream(file);
  std::string line;
  while (std::getline(stream, line)) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

std::string cpu_model() {
  // x86 says "model name"; some ARM systems say "Model", others only a part number.
  for (const char* key : {"model name", "Model", "CPU part"}) {
    std::string model = field("/proc/cpuinfo", key);
    if (!model.empty()) return model;
  }
  return {};
}

std::int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return sysconf(_SC_NPROCESSORS_ONLN);  // more processors than a cpu_set_t has
}

std::int64_t usable_memory() {
  std::int64_t bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  // A container's limit; the file says "max" where there is none.
  std::int64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0) {
    bytes = std::min(bytes, limit);
  }
  return bytes;
}

std::string operating_system() {
  utsname name{};
  std::string result = uname(&name) == 0 ? fmt::format("{} {}", name.sysname, name.release) : "";
  std::ifstream stream("/etc/os-release");
  std::string line;
  while (std::getline(stream, line)) {
    constexpr std::string_view key = "PRETTY_NAME=\"";
    if (line.starts_with(key) && line.ends_with('"')) {
      result += fmt::format(" ({})", line.substr(key.size(), line.size() - key.size() - 1));
    }
  }
  return result;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = cpu_model();
  machine.cores = usable_cores();
  machine.memory_bytes = usable_memory();
  machine.os = operating_system();
  machine.compiler = compiler();
  machine.lloyd = LLOYD_VERSION;
  return machine;
}

}  // namespace lloyd::experiment
