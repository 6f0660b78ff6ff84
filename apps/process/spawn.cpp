#include "process/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "ipc/descriptor.hpp"

namespace lloyd::apps {
namespace {

// Owns the file actions and attributes of a posix_spawn() call.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void duplicate(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void open_nothing(int to) {
    ::posix_spawn_file_actions_addopen(&actions_, to, "/dev/null", O_RDWR, 0);
  }
  void close_from(int first) { ::posix_spawn_file_actions_addclosefrom_np(&actions_, first); }

  int start(pid_t& pid, char* const* command, char* const* environment) {
    return ::posix_spawn(&pid, command[0], &actions_, &attributes_, command, environment);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

pid_t spawn(const std::vector<std::string>& command, const std::vector<int>& descriptors,
            const std::vector<std::string>* environment) {
  const auto count = static_cast<int>(descriptors.size());
  SpawnPlan plan;
  std::vector<Descriptor> moved;
  for (int to = 0; to < count; ++to) {
    const int from = descriptors[static_cast<std::size_t>(to)];
    if (from < 0) {
      plan.open_nothing(to);
      continue;
    }
    // Duplicated above the target numbers, so that no dup2() overwrites a source.
    moved.emplace_back(::fcntl(from, F_DUPFD_CLOEXEC, count));
    if (!moved.back()) {
      throw Error(fmt::format("cannot duplicate a descriptor: {}", descriptor_error(errno)));
    }
    plan.duplicate(moved.back().get(), to);
  }
  plan.close_from(count);
  pid_t pid = -1;
  const int error = plan.start(pid, pointers(command).data(),
                               environment == nullptr ? environ : pointers(*environment).data());
  if (error != 0) throw Error(fmt::format("cannot start a process: {}", descriptor_error(error)));
  return pid;
}

}  // namespace lloyd::apps
