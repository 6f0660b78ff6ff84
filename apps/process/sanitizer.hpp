// Adaptations for a process that runs under a sanitizer.
#pragma once

#include <cstdlib>

// Defined by the runtime of AddressSanitizer, and by those of other sanitizers used alone.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace lloyd::apps {

/// Makes a sanitizer report abort this process, instead of ending it with an exit status that a
/// program could have chosen.
inline void abort_after_sanitizer_report() {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(std::abort);
}

/// True if a sanitizer's runtime is loaded, which uses additional memory.
inline bool is_sanitized() {
  return __sanitizer_set_death_callback != nullptr;
}

}  // namespace lloyd::apps
