#include "machine/memory.hpp"

#include <string>

namespace lloyd::machine {

Memory read_memory(const SystemFiles& files) {
  const std::string text = files.text("/proc/meminfo");  // "MemTotal:  24684092 kB"
  const auto bytes = [&text](const char* key) {
    const std::int64_t kibibytes = number_of(field_of(text, key));
    return kibibytes > 0 ? kibibytes * 1024 : 0;
  };
  return {bytes("MemTotal"), bytes("MemAvailable")};
}

}  // namespace lloyd::machine
