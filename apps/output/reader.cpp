#include "output/reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <mutex>

#include "ipc/descriptor.hpp"
#include "process/stop_request.hpp"

namespace lloyd::apps {
namespace {

// PIPE_BUF: a pipe that poll(2) reports as writable takes this many bytes at once.
constexpr std::size_t kPipeBlock = 4096;

// A non-blocking descriptor of a pipe or terminal.
struct Unblocked {
  dev_t device = 0;
  ino_t inode = 0;
  int descriptor = -1;  // negative: cannot be opened
};

std::mutex unblocked_mutex;
std::array<Unblocked, 2> unblocked;  // one for messages, one for results
std::size_t next_unblocked = 0;

// A terminal that poll(2) reports as writable may have room for a single byte, and another process
// may fill a pipe after poll(2): write(2) would block. Pipes and terminals are therefore reopened
// with O_NONBLOCK; setting the flag on `descriptor` would affect the processes that share it.
// Returns `descriptor` itself for other files, for the master of a pseudoterminal, of which
// reopening would make a new one, and if reopening fails.
int without_waiting(int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return descriptor;
  if (!S_ISFIFO(status.st_mode) && ::isatty(descriptor) == 0) return descriptor;
  unsigned int terminal = 0;
  if (::ioctl(descriptor, TIOCGPTN, &terminal) == 0) return descriptor;  // a master
  const std::lock_guard lock(unblocked_mutex);
  for (const Unblocked& known : unblocked) {
    if (known.device != status.st_dev || known.inode != status.st_ino) continue;
    return known.descriptor < 0 ? descriptor : known.descriptor;
  }
  std::array<char, 32> path;  // no allocation: used by messages about lack of memory
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", descriptor);
  const Descriptor low(::open(path.data(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  Unblocked& entry = unblocked[next_unblocked++ % unblocked.size()];
  if (entry.descriptor >= 0) ::close(entry.descriptor);
  entry = {status.st_dev, status.st_ino, low ? copy_to_high_number(low.get()) : -1};
  return entry.descriptor < 0 ? descriptor : entry.descriptor;
}

// Blocks SIGPIPE in this thread; ignoring it would affect the other threads. write(2) sends it to
// the calling thread.
ssize_t write_unsignalled(int descriptor, std::string_view text) {
  sigset_t broken_pipe;
  sigset_t before;
  sigset_t pending;
  ::sigemptyset(&broken_pipe);
  ::sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  ::sigpending(&pending);
  const ssize_t written = ::write(descriptor, text.data(), text.size());
  const int error = errno;
  if (written < 0 && error == EPIPE && ::sigismember(&pending, SIGPIPE) == 0) {
    const timespec at_once{};
    while (::sigtimedwait(&broken_pipe, nullptr, &at_once) < 0 && errno == EINTR) continue;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace

ssize_t write_at_once(int descriptor, std::string_view text) {
  pollfd ready{descriptor, POLLOUT, 0};
  if (::poll(&ready, 1, 0) <= 0) {
    errno = EAGAIN;
    return -1;
  }
  const ssize_t written =
      write_unsignalled(without_waiting(descriptor), text.substr(0, kPipeBlock));
  if (written < 0 && errno == EAGAIN) {
    constexpr int kMilliseconds = 10;  // poll(2) reports room that write(2) does not find
    ::poll(nullptr, 0, kMilliseconds);
    errno = EAGAIN;
  }
  return written;
}

ssize_t write_to_reader(int descriptor, std::string_view text, std::chrono::milliseconds grace) {
  using Clock = std::chrono::steady_clock;
  constexpr int kMilliseconds = 100;  // polling interval of the stop request
  Clock::time_point since = Clock::now();
  for (;;) {
    const ssize_t written = write_at_once(descriptor, text);
    if (written >= 0 || (errno != EAGAIN && errno != EINTR)) return written;
    if (!interrupted()) {
      since = Clock::now();
    } else if (Clock::now() - since >= grace) {
      return 0;
    }
    pollfd ready{descriptor, POLLOUT, 0};
    ::poll(&ready, 1, kMilliseconds);
  }
}

void forget_readers() {
  const std::lock_guard lock(unblocked_mutex);
  for (Unblocked& known : unblocked) {
    if (known.descriptor >= 0) ::close(known.descriptor);
    known = {};
  }
}

}  // namespace lloyd::apps
