#include "spawned_process.hpp"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <cerrno>

#include <fmt/format.h>

#include "process_tree.hpp"

namespace lloyd::apps {

std::string ProcessEnd::text() const {
  return signalled ? fmt::format("signal {} ({})", code, ::strsignal(code))
                   : fmt::format("exit({})", code);
}

bool SpawnedProcess::has_ended() {
  if (ended_) return true;
  siginfo_t info{};
  // It is left a zombie until its group is killed: so its number names nothing else.
  const int options = WEXITED | WNOHANG | WNOWAIT;
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, options) != 0 || info.si_pid == 0) {
    return false;
  }
  if (reach_ == Reach::group) ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  end_ = {info.si_code != CLD_EXITED, info.si_status};
  ended_ = true;
  return true;
}

void SpawnedProcess::signal(int number) {
  if (pid_ > 0 && !ended_) ::kill(pid_, number);
}

void SpawnedProcess::kill() {
  if (pid_ < 0 || ended_) return;
  if (reach_ == Reach::group) {
    kill_descendants(pid_);  // first: those that have left the group are still known as such
    ::kill(-pid_, SIGKILL);
  }
  ::kill(pid_, SIGKILL);  // should it have left its group
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0 && errno == EINTR) {
  }
  end_ = {info.si_code != CLD_EXITED, info.si_status};
  ended_ = true;
}

}  // namespace lloyd::apps
