#include "messages.hpp"

#include <fcntl.h>
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

// A number that no plugin finds by accident, where the limit of descriptors allows one.
int copy_to_high_number(int descriptor) {
  constexpr int kHighNumber = 200;
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kHighNumber);
  return copy >= 0 ? copy : ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

}  // namespace

std::FILE* message_stream() noexcept {
  return diverted_messages != nullptr ? diverted_messages : stderr;
}

void write_message(const std::string& text) {
  const auto former = ::signal(SIGPIPE, SIG_IGN);
  std::fputs(text.c_str(), message_stream());
  ::signal(SIGPIPE, former);
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
