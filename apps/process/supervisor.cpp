#include "process/supervisor.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "process/process_tree.hpp"

namespace lloyd::apps {
namespace {

[[noreturn]] void end_supervisor_by(int signal) {
  // Only the child's core dump is useful.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(signal, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::kill(::getpid(), signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::_exit(EXIT_FAILURE);
}

// Reaps all ended children. Returns true, and sets `status`, if `child` was among them.
bool reap(pid_t child, int& status) {
  bool ended = false;
  int how = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &how, WNOHANG)) > 0;) {
    if (pid != child) continue;
    ended = true;
    status = how;
  }
  return ended;
}

// Where close_range(2) is missing: on kernels before 5.9 and in containers that do not know it.
void close_each_descriptor() {
  std::vector<int> open;
  if (DIR* const folder = ::opendir("/proc/self/fd")) {
    while (const dirent* const entry = ::readdir(folder)) {
      open.push_back(static_cast<int>(std::strtol(entry->d_name, nullptr, 10)));
    }
    ::closedir(folder);
  } else {
    open.resize(static_cast<std::size_t>(std::clamp(::sysconf(_SC_OPEN_MAX), 1024L, 65536L)));
    std::iota(open.begin(), open.end(), 0);
  }
  for (const int descriptor : open) {
    if (descriptor > STDERR_FILENO) ::close(descriptor);
  }
}

// If the supervisor kept the child's descriptors open, nobody could see the child close them.
void close_descriptors() {
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, stream);
  if (::close_range(STDERR_FILENO + 1, ~0u, 0) != 0) close_each_descriptor();
}

// `signals` must be blocked.
[[noreturn]] void run_supervisor(pid_t parent, pid_t child, const sigset_t& signals) {
  close_descriptors();
  for (;;) {
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&signals, &info);
    if (signal < 0) continue;
    int status = 0;
    if (::getppid() != parent) {
      kill_descendants(::getpid());
      ::_exit(EXIT_FAILURE);
    }
    if (signal == SIGCHLD) {
      if (!reap(child, status)) continue;
      kill_descendants(::getpid());
      if (WIFSIGNALED(status)) end_supervisor_by(WTERMSIG(status));
      ::_exit(WEXITSTATUS(status));
    }
    if (info.si_code == SI_USER && info.si_pid == parent) {
      ::kill(child, signal);
    } else {
      kill_descendants(::getpid());
      end_supervisor_by(signal);
    }
  }
}

}  // namespace

void run_supervised(pid_t parent, ChildGroup group) {
  sigset_t signals;
  sigset_t before;
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, SIGHUP);
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);  // the parent ended before prctl()
  const pid_t supervisor = ::getpid();
  const pid_t group_before = ::getpgrp();
  // Before fork(): a terminal signal would end the supervisor, and thereby the child.
  if (group == ChildGroup::parents) ::setpgid(0, 0);
  const pid_t child = ::fork();
  if (child < 0) throw Error(fmt::format("cannot start a process: {}", ::strerror(errno)));
  if (child > 0) run_supervisor(parent, child, signals);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(EXIT_FAILURE);
  ::setpgid(0, group == ChildGroup::own ? 0 : group_before);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace lloyd::apps
