// What is otherwise in a process with a sanitizer.
#pragma once

#include <cstdlib>

// The runtime of AddressSanitizer has this function, and that of others where they stand alone.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace lloyd::apps {

/// From now on a report aborts this process, where it would end with a status that a program could
/// have chosen.
inline void abort_after_sanitizer_report() {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(std::abort);
}

/// Whether a sanitizer's runtime is there, which takes memory of its own.
inline bool is_sanitized() {
  return __sanitizer_set_death_callback != nullptr;
}

}  // namespace lloyd::apps
