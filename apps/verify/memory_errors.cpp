#include "verify/memory_errors.hpp"

#include <algorithm>
#include <array>

namespace lloyd::apps {

bool suggests_memory_error(std::string_view message) {
  static constexpr std::array<std::string_view, 13> kSigns = {
      "signal 7 (Bus error)", "signal 11 (Segmentation fault)",
      // Messages of glibc before it aborts.
      "free(): ", "malloc(): ", "realloc(): ", "calloc(): ", "double free or corruption",
      "corrupted size vs. prev_size", "corrupted double-linked list",
      "munmap_chunk(): ", "stack smashing detected",
      // Of the suite, which fences output arrays.
      "a value before the first one was written", "a value after the last one was written"};
  if (message.find("Sanitizer") != message.npos) return false;
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](std::string_view sign) { return message.find(sign) != message.npos; });
}

}  // namespace lloyd::apps
