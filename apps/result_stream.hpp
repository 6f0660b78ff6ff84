// The stream that results are printed to.
#pragma once

#include <cstdio>
#include <string_view>

namespace lloyd::apps {

/// Standard output, or the private copy of it after keep_results_apart().
std::FILE* result_stream() noexcept;

/// Results are printed to a private copy of standard output from now on, and whatever else writes
/// to standard output, such as a plugin's thread, writes to standard error. Throws Error.
void keep_results_apart();

/// Throws std::system_error, whose text says that standard output cannot be written and why.
void write_result(std::string_view text);
/// As write_result(), for what is still in the buffer.
void flush_results();

/// Drops what was printed but could not be written.
void drop_unwritten_results() noexcept;

}  // namespace lloyd::apps
