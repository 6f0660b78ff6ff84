#include "external/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::external {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of an answer
constexpr std::chrono::seconds kMostDescribing{60};
constexpr std::chrono::seconds kMostHolding{2};  // of the output of a program that has ended
constexpr int kSliceMs = 100;

}  // namespace

Program::Program(const std::filesystem::path& file, const char* argument) : file_(file) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(fmt::format("cannot make a socket: {}", ::strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const std::string path = file.string();
  const char* arguments[] = {path.c_str(), argument, nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, path.c_str(), &actions, nullptr,
                                  const_cast<char* const*>(arguments), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  socket_ = ends[0];
  if (error != 0) {
    ::close(socket_);
    throw Error(fmt::format("cannot start {}: {}", path, ::strerror(error)));
  }
  process_.adopt(pid);
}

Program::~Program() {
  process_.kill();
  ::close(socket_);
}

void Program::send(std::string line) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    // No signal where it has ended: what follows finds out.
    const ssize_t count = ::send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

// Waits for what the program writes; false once it cannot write any more.
bool Program::receive(int wait_ms) {
  pollfd waited{socket_, POLLIN, 0};
  if (::poll(&waited, 1, wait_ms) <= 0) return open_;
  char bytes[4096];
  const ssize_t count = ::read(socket_, bytes, sizeof(bytes));
  if (count > 0) {
    received_.append(bytes, static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    open_ = false;
  }
  return open_;
}

// How the program ended, of which it has given up its socket.
std::string Program::end_text() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point patience = Clock::now() + std::chrono::seconds(1);
  while (!process_.has_ended() && Clock::now() < patience) ::poll(nullptr, 0, 5);
  if (!process_.ended()) return "it closed its output";
  return "it ended with " + process_.end().text();
}

std::optional<std::string> Program::ask(const std::string& line,
                                        const std::function<bool()>& stop) {
  send(line);
  for (;;) {
    const std::size_t end = received_.find('\n');
    if (end != std::string::npos) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
    if (received_.size() > kMostBytes) {
      throw Error(fmt::format("{} answered more than {} bytes without a line feed", file_.string(),
                              kMostBytes));
    }
    if (stop && stop()) {
      process_.kill();
      return std::nullopt;
    }
    if (!receive(kSliceMs) && received_.find('\n') == std::string::npos) {
      throw Error(fmt::format("{} gave no answer: {}", file_.string(), end_text()));
    }
  }
}

std::string Program::output() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + kMostDescribing;
  std::optional<Clock::time_point> ended;
  while (receive(kSliceMs)) {
    if (received_.size() > kMostBytes) {
      throw Error(fmt::format("{} printed more than {} bytes", file_.string(), kMostBytes));
    }
    if (process_.has_ended() && !ended) ended = Clock::now();
    if (ended && Clock::now() - *ended > kMostHolding) {
      throw Error(fmt::format("{}: it ended, but a process that it has started holds its output",
                              file_.string()));
    }
    if (Clock::now() > deadline) {
      throw Error(
          fmt::format("{} did not end within {} seconds", file_.string(), kMostDescribing.count()));
    }
  }
  const std::string end = end_text();
  if (end != "it ended with exit(0)") throw Error(fmt::format("{}: {}", file_.string(), end));
  return received_;
}

}  // namespace lloyd::external
