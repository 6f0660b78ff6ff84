#include "output/messages.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "ipc/descriptor.hpp"
#include "output/reader.hpp"

namespace lloyd::apps {
namespace {

int messages = STDERR_FILENO;
// After a grace has expired: otherwise those of many messages would add up.
std::atomic<bool> reader_given_up{false};

std::atomic<bool> silent_messages{false};

struct NamedPath {
  std::string path;
  std::string file_name;
  std::string name;
};
// Empty until name_in_messages().
NamedPath named_path;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

int message_descriptor() noexcept {
  return messages;
}

void name_in_messages(const std::filesystem::path& path, std::string name) {
  named_path = {path.string(), path.filename().string(), std::move(name)};
}

std::string with_names(std::string_view text) {
  std::string named(text);
  if (named_path.path.empty()) return named;
  replace_all(named, named_path.path, named_path.name);
  replace_all(named, named_path.file_name, named_path.name);
  return named;
}

void set_silent(bool silent) noexcept {
  silent_messages = silent;
}

bool is_silent() noexcept {
  return silent_messages;
}

void write_message(std::string_view text) {
  if (is_silent()) return;
  std::string named;
  // Other texts are written without allocating, because a message may say that memory is exhausted.
  if (!named_path.path.empty() && text.find(named_path.file_name) != std::string_view::npos) {
    named = with_names(text);
    text = named;
  }
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
