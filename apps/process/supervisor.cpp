#include "process/supervisor.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "process/process_tree.hpp"

namespace lloyd::apps {
namespace {

[[noreturn]] void end_supervisor_by(int signal) {
  // The core of the child is the one that tells something.
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

// Reaps what has ended. Whether `child` was among it, and how that ended.
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

// A supervisor that kept the child's descriptors open would hide that the child has closed them.
void close_descriptors() {
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, stream);
  ::close_range(STDERR_FILENO + 1, ~0u, 0);
}

// `signals` are blocked.
[[noreturn]] void supervise(pid_t parent, pid_t child, const sigset_t& signals) {
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
  if (::getppid() != parent) ::_exit(EXIT_FAILURE);  // it ended before the line above
  const pid_t supervisor = ::getpid();
  const pid_t group_before = ::getpgrp();
  // First: a signal of the terminal would end the supervisor, and with it the child.
  if (group == ChildGroup::parents) ::setpgid(0, 0);
  const pid_t child = ::fork();
  if (child < 0) throw Error(fmt::format("cannot start a process: {}", ::strerror(errno)));
  if (child > 0) supervise(parent, child, signals);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(EXIT_FAILURE);
  ::setpgid(0, group == ChildGroup::own ? 0 : group_before);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace lloyd::apps
