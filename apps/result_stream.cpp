#include "result_stream.hpp"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "descriptor.hpp"

namespace lloyd::apps {
namespace {

// Null: standard output.
std::FILE* private_results = nullptr;

[[noreturn]] void fail() {
  throw std::system_error(errno, std::generic_category(), "standard output cannot be written");
}

}  // namespace

std::FILE* result_stream() noexcept {
  return private_results != nullptr ? private_results : stdout;
}

void keep_results_apart() {
  const int copy = copy_to_high_number(STDOUT_FILENO);
  // One that cannot be written to stays so: each print says it.
  const bool read_only = copy >= 0 && (::fcntl(copy, F_GETFL) & O_ACCMODE) == O_RDONLY;
  private_results = copy < 0 ? nullptr : ::fdopen(copy, read_only ? "r" : "w");
  if (private_results == nullptr) {
    throw Error(fmt::format("cannot duplicate standard output: {}", descriptor_error(errno)));
  }
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

void write_result(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), result_stream()) != text.size()) fail();
}

void flush_results() {
  if (std::fflush(result_stream()) != 0) fail();
}

void drop_unwritten_results() noexcept {
  ::__fpurge(result_stream());
}

}  // namespace lloyd::apps
