#include "machine/system/memory.hpp"

#include <string>

namespace lloyd::machine {

namespace {

// Bytes of a line such as "MemTotal:  24684092 kB"; 0 if there is none.
std::int64_t bytes_of(const std::string& text, const char* key) {
  const std::int64_t kibibytes = number_of(field_of(text, key));
  return kibibytes > 0 ? kibibytes * 1024 : 0;
}

}  // namespace

Memory read_memory(const SystemFiles& files) {
  const std::string text = files.text("/proc/meminfo");
  return {bytes_of(text, "MemTotal"), bytes_of(text, "MemAvailable")};
}

std::int64_t peak_memory(const SystemFiles& files) {
  return bytes_of(files.text("/proc/self/status"), "VmHWM");
}

}  // namespace lloyd::machine
