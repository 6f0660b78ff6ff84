#include "output/messages.hpp"

#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "ipc/descriptor.hpp"
#include "output/reader.hpp"

namespace lloyd::apps {
namespace {

int messages = STDERR_FILENO;

}  // namespace

int message_descriptor() noexcept {
  return messages;
}

void write_message(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write_to_reader(messages, text, {});
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool messages_go_to_terminal() noexcept {
  return ::isatty(messages) != 0;
}

void divert_standard_error(int output) {
  const int copy = copy_to_high_number(STDERR_FILENO);
  if (copy < 0) {
    throw Error(fmt::format("cannot duplicate standard error: {}", descriptor_error(errno)));
  }
  messages = copy;
  ::dup2(output, STDERR_FILENO);
}

}  // namespace lloyd::apps
