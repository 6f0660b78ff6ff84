#include "process/spawned_process.hpp"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <cerrno>
#include <set>

#include <fmt/format.h>

#include "process/process_tree.hpp"

namespace lloyd::apps {

std::string ProcessEnd::text() const {
  return signalled ? fmt::format("signal {} ({})", code, ::strsignal(code))
                   : fmt::format("exit({})", code);
}

namespace {

std::set<pid_t>& own_processes() {
  static std::set<pid_t> processes;
  return processes;
}

}  // namespace

const std::set<pid_t>& SpawnedProcess::all() {
  return own_processes();
}

void SpawnedProcess::adopt(pid_t pid) {
  pid_ = pid;
  own_processes().insert(pid);
}

// Call it after the process has been reaped.
void SpawnedProcess::conclude(bool signalled, int code) {
  end_ = {signalled, code};
  ended_ = true;
  own_processes().erase(pid_);
  // Descendants that killed their supervisor have been adopted by this process.
  if (reach_ == Reach::group) kill_orphans(own_processes());
}

bool SpawnedProcess::has_ended() {
  if (ended_) return true;
  siginfo_t info{};
  // WNOWAIT leaves a zombie until the group is killed, so that the group's number is not reused.
  const int options = WEXITED | WNOHANG | WNOWAIT;
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, options) != 0 || info.si_pid == 0) {
    return false;
  }
  if (reach_ == Reach::group) ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  conclude(info.si_code != CLD_EXITED, info.si_status);
  return true;
}

void SpawnedProcess::signal(int number) {
  if (pid_ > 0 && !ended_) ::kill(pid_, number);
}

void SpawnedProcess::kill() {
  if (pid_ < 0 || ended_) return;
  if (reach_ == Reach::group) {
    // Before the process itself: afterwards, descendants outside the group cannot be found.
    kill_descendants(pid_);
    ::kill(-pid_, SIGKILL);
  }
  ::kill(pid_, SIGKILL);  // in case it has left its group
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0 && errno == EINTR) {
  }
  conclude(info.si_code != CLD_EXITED, info.si_status);
}

}  // namespace lloyd::apps
