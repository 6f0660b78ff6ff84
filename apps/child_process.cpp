#include "child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "sanitizer.hpp"

namespace lloyd::apps {
namespace {

constexpr std::size_t kMostLine = std::size_t{1} << 24;  // bytes; more is no line

void write_line(int pipe, std::string_view text) {
  const std::string line = fmt::format("{}\n", text);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(pipe, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) std::abort();  // nobody listens
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void redirect_standard_streams() {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

[[noreturn]] void run_child(pid_t parent, int pipe, const ChildProcess::Work& work) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);  // it ended before the line above
  // A group of its own, so that it is killed with all that it has started, and an interrupt from
  // the terminal goes to the parent alone; it may still write to that terminal.
  ::setpgid(0, 0);
  ::signal(SIGTTOU, SIG_IGN);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  redirect_standard_streams();
  abort_after_sanitizer_report();
  std::exit(work([pipe](std::string_view line) { write_line(pipe, line); }));
}

}  // namespace

ChildProcess::ChildProcess(const Work& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(fmt::format("cannot make a pipe: {}", ::strerror(errno)));
  }
  std::fflush(nullptr);  // or the child would print it too
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    run_child(parent, ends[1], work);
  }
  const int error = errno;
  ::close(ends[1]);
  pipe_ = ends[0];
  if (child < 0) {
    ::close(pipe_);
    throw Error(fmt::format("cannot start a process: {}", ::strerror(error)));
  }
  process_.adopt(child);
  ::setpgid(child, child);  // here too, since the child may not have come so far when it is killed
  ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  process_.kill();
  ::close(pipe_);
}

ChildProcess::Event ChildProcess::wait(Clock::time_point deadline,
                                       const std::function<bool()>& stop) {
  using std::chrono::milliseconds;
  while (true) {
    if (take_line()) return Event::line;
    if (process_.ended()) return Event::ended;
    if (stop && stop()) return Event::stopped;
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return Event::timed_out;
    // The pipe closes when the child ends, but not where something that it started holds it open,
    // and it can close before. So both are looked at.
    pollfd waited{pipe_, POLLIN, 0};
    const auto slice = std::min(left, milliseconds(pipe_open_ ? 100 : 10));
    ::poll(&waited, pipe_open_ ? 1 : 0, static_cast<int>(slice.count()));
    if (waited.revents != 0 && read_pipe()) continue;
    // Once more: it may have written between the two.
    if (process_.has_ended()) read_pipe();
  }
}

bool ChildProcess::take_line() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos && buffer_.size() < kMostLine) return false;
  if (end == std::string::npos) {  // nothing that was agreed on
    line_ = std::exchange(buffer_, {});
    pipe_open_ = false;
    return true;
  }
  line_ = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return true;
}

// Reads what is there; whether that was anything.
bool ChildProcess::read_pipe() {
  const std::size_t before = buffer_.size();
  char bytes[4096];
  while (pipe_open_ && buffer_.size() < kMostLine) {
    const ssize_t count = ::read(pipe_, bytes, sizeof(bytes));
    if (count > 0) buffer_.append(bytes, static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) pipe_open_ = false;
    if (count < 0 && errno == EAGAIN) break;
  }
  return buffer_.size() > before;
}

}  // namespace lloyd::apps
