#include "output/messages.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "ipc/descriptor.hpp"
#include "output/reader.hpp"

namespace lloyd::apps {
namespace {

int messages = STDERR_FILENO;
// After a grace has expired: otherwise those of many messages would add up.
std::atomic<bool> reader_given_up{false};

}  // namespace

int message_descriptor() noexcept {
  return messages;
}

void write_message(std::string_view text) {
  while (!text.empty()) {
    const auto grace = reader_given_up ? std::chrono::seconds(0) : kMessageGrace;
    const ssize_t written = write_to_reader(messages, text, grace);
    if (written == 0) reader_given_up = true;
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
