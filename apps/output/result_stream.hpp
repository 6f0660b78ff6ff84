// The stream that results are printed to.
#pragma once

#include <string_view>

namespace lloyd::apps {

/// The descriptor of standard output, or of the private copy of it after keep_results_apart().
int result_descriptor() noexcept;

/// Results are printed to a private copy of standard output from now on, and whatever else writes
/// to standard output, such as a plugin's thread, writes to standard error. Throws Error.
void keep_results_apart();

/// Keeps the text until there is more of it or flush_results() is called. Throws as that does.
void write_result(std::string_view text);
/// Writes what write_result() has kept; nothing is kept afterwards. Throws std::system_error, whose
/// text says that standard output cannot be written and why. After a request to stop, see
/// interrupted(), it waits for a reader only a second at a time, and then throws Error.
void flush_results();

}  // namespace lloyd::apps
