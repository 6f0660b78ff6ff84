// Message of std::terminate().
#pragma once

namespace lloyd::apps {

/// Installs a terminate handler that calls `say` with one printable sentence, the reason, and
/// aborts. It replaces the message of the C++ runtime, except in a plugin that is linked with a
/// runtime of its own.
void describe_termination(void (*say)(const char* sentence));

/// Writes the sentence and a line feed to standard error.
void say_to_standard_error(const char* sentence);

}  // namespace lloyd::apps
