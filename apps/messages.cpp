#include "messages.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "descriptor.hpp"

namespace lloyd::apps {
namespace {

// Null: standard error.
std::FILE* diverted_messages = nullptr;

}  // namespace

std::FILE* message_stream() noexcept {
  return diverted_messages != nullptr ? diverted_messages : stderr;
}

ssize_t write_unsignalled(int descriptor, std::string_view text) {
  const auto former = ::signal(SIGPIPE, SIG_IGN);
  const ssize_t written = ::write(descriptor, text.data(), text.size());
  const int error = errno;
  ::signal(SIGPIPE, former);
  errno = error;
  return written;
}

void write_message(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write_unsignalled(::fileno(message_stream()), text);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool messages_go_to_terminal() noexcept {
  return ::isatty(::fileno(message_stream())) != 0;
}

void divert_standard_error(int output) {
  const int copy = copy_to_high_number(STDERR_FILENO);
  std::FILE* const stream = copy < 0 ? nullptr : ::fdopen(copy, "w");
  if (stream == nullptr) {
    throw Error(fmt::format("cannot duplicate standard error: {}", descriptor_error(errno)));
  }
  std::setvbuf(stream, nullptr, _IONBF, 0);
  diverted_messages = stream;
  ::dup2(output, STDERR_FILENO);
}

}  // namespace lloyd::apps
