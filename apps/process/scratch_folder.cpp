#include "process/scratch_folder.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {
namespace {

// Waits for the end of its input, then removes its argument. Retries, because a process that is
// being killed may still write there. Sets PATH, because the caller's could find programs in the
// working directory, or none.
constexpr char kRemover[] =
    "PATH=/usr/bin:/bin; trap '' HUP INT TERM; read -r _; "
    "for _ in 1 2 3 4 5 6 7 8 9; do rm -rf -- \"$0\" && exit 0; sleep 1; done";

// Starts the remover in its own session, so that signals to this process's session do not reach it.
pid_t start_remover(const std::filesystem::path& folder, int input) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  }
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  const char* arguments[] = {"sh", "-c", kRemover, folder.c_str(), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/bin/sh", &actions, &attributes,
                                  const_cast<char* const*>(arguments), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  throw Error(
      fmt::format("cannot start /bin/sh, which would remove {} should this process be "
                  "killed: {}",
                  folder.string(), descriptor_error(error)));
}

}  // namespace

namespace {

// The folder that std::filesystem::temp_directory_path() chooses, and the environment variable that
// names it (empty: none).
std::pair<std::string, std::string> temporary_folder() {
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    const char* const folder = std::getenv(variable);
    if (folder != nullptr && *folder != '\0') return {folder, variable};
  }
  return {"/tmp", ""};
}

}  // namespace

ScratchFolder::ScratchFolder(const std::filesystem::path& parent) {
  const auto [folder, variable] = parent.empty()
                                      ? temporary_folder()
                                      : std::pair<std::string, std::string>(parent.string(), "");
  std::string path = (std::filesystem::path(folder) / "lloyd-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    throw Error(
        fmt::format("cannot make a folder for temporary files in '{}'{}: {}{}", folder,
                    variable.empty() ? "" : ", which " + variable + " names", ::strerror(errno),
                    parent.empty() ? "; TMPDIR must name a folder that can be written" : ""));
  }
  path_ = path;
  try {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      throw Error(fmt::format("cannot make a pipe: {}", descriptor_error(errno)));
    }
    const Descriptor input(ends[0]);
    alive_ = Descriptor(ends[1]);
    remover_.adopt(start_remover(path_, input.get()));
  } catch (...) {
    remove();
    throw;
  }
}

ScratchFolder::~ScratchFolder() {
  remove();
}

void ScratchFolder::remove() {
  std::error_code error;  // ignored: files that cannot be removed stay
  // remove() first: unlike remove_all() it needs no descriptor, and none may be left.
  if (!std::filesystem::remove(path_, error)) std::filesystem::remove_all(path_, error);
}

}  // namespace lloyd::apps
