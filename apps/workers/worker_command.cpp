#include "workers/worker_command.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::apps {

bool has_worker_socket() noexcept {
  int type = 0;
  socklen_t size = sizeof(type);
  return ::getsockopt(kWorkerSocket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_SEQPACKET;
}

std::filesystem::path program_file() {
  namespace fs = std::filesystem;
  const fs::path self = "/proc/self/exe";
  std::error_code error;
  // Under valgrind only readlink() gives this program; executing the link does not. If the file was
  // removed or replaced, the link's text names no file, but executing the link still works.
  const fs::path file = fs::read_symlink(self, error);
  if (error) {
    throw Error(
        fmt::format("plugins cannot be found and loaded, because the path of this program is "
                    "unknown: {} cannot be read: {}",
                    self.string(), error.message()));
  }
  return fs::exists(file, error) ? file : self;
}

std::vector<std::string> worker_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {program_file().string(), "worker", "--parent",
                                      fmt::format("{}", ::getpid())};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace lloyd::apps
