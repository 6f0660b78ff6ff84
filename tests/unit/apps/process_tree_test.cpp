// Killing of orphans.
#include <linux/capability.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

#include "ipc/descriptor.hpp"
#include "output/foreign_output.hpp"
#include "process/process_tree.hpp"

namespace lloyd::apps {
namespace {

constexpr int kSkipped = 77;

// Gives the effective capability to kill processes of other users back, or takes it.
bool set_kill_capability(bool wanted) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  constexpr std::uint32_t kBit = std::uint32_t{1} << CAP_KILL;
  data[0].effective = wanted ? data[0].effective | kBit : data[0].effective & ~kBit;
  return ::syscall(SYS_capset, &header, data) == 0;
}

// Starts an orphan of this process that belongs to another user. It ends after five minutes.
bool start_orphan_of_another_user() {
  constexpr uid_t kNobody = 65534;
  auto [ready, its_ready] = make_pipe();
  const pid_t parent = ::fork();
  if (parent == 0) {
    if (::fork() == 0) {
      ::alarm(300);
      if (::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(1);
      if (::write(its_ready.get(), "r", 1) != 1) ::_exit(1);
      its_ready.close();
      for (;;) ::pause();
    }
    ::_exit(0);
  }
  ::waitpid(parent, nullptr, 0);
  its_ready.close();
  char byte = 0;
  return ::read(ready.get(), &byte, 1) == 1;
}

std::chrono::steady_clock::duration time_of_kill_orphans() {
  const auto begin = std::chrono::steady_clock::now();
  kill_orphans({});
  return std::chrono::steady_clock::now() - begin;
}

// Exit status: 0 if orphans that cannot be killed share one grace period.
int kill_what_cannot_be_killed() {
  adopt_orphans();
  if (!set_kill_capability(false)) return kSkipped;
  if (!start_orphan_of_another_user()) return kSkipped;
  const auto first = time_of_kill_orphans();
  if (descendants_of(::getpid()).empty()) return 1;
  // A later call may be slow on a busy machine, but not shorter than the first one if each call had
  // a grace period of its own.
  constexpr int kAttempts = 10;
  bool shared = false;
  for (int attempt = 0; attempt < kAttempts && !shared; ++attempt) {
    if (!start_orphan_of_another_user()) return kSkipped;
    shared = time_of_kill_orphans() < first / 2;
  }
  set_kill_capability(true);
  // The calls return before the killed processes have ended.
  while (!descendants_of(::getpid()).empty()) kill_orphans({});
  return shared ? 0 : 2;
}

TEST(ProcessTree, OrphansThatCannotBeKilledShareOneGracePeriod) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs processes of another user";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(kill_what_cannot_be_killed());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kSkipped) GTEST_SKIP() << "no process of another user can be made";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace lloyd::apps
