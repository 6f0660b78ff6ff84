#include "worker_command.hpp"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

namespace lloyd::apps {

std::vector<std::string> worker_command(const std::vector<std::string>& arguments) {
  namespace fs = std::filesystem;
  const fs::path self = "/proc/self/exe";
  std::error_code error;
  // Under valgrind the link leads to this program only where it is read. Of a file that was removed
  // or replaced it has a name that does not exist, and leads to the program nevertheless.
  const fs::path file = fs::read_symlink(self, error);
  const bool named = !error && fs::exists(file, error);
  std::vector<std::string> command = {(named ? file : self).string(), "worker", "--parent",
                                      fmt::format("{}", ::getpid())};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace lloyd::apps
