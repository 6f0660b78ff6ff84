// What this process says where std::terminate() ends it.
#pragma once

namespace lloyd::apps {

/// From now on std::terminate() has `say` called with one printable sentence, on why, and aborts.
/// The C++ runtime's own words are not printed. A plugin with a runtime of its own has its own
/// words.
void describe_termination(void (*say)(const char* sentence));

/// Writes the sentence to standard error, as a line.
void say_to_standard_error(const char* sentence);

}  // namespace lloyd::apps
