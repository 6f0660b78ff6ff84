// Program: a running external program that answers requests.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <lloyd/error.hpp>

#include "ipc/descriptor.hpp"
#include "ipc/last_words.hpp"
#include "process/spawned_process.hpp"

namespace lloyd::external {

/// The program wrote a line that no request had asked for.
class StrayLine : public Error {
 public:
  using Error::Error;
};

/// The program ended although a request awaited its answer.
class ProgramEnded : public Error {
 public:
  using Error::Error;
};

/// A child process with one socket as standard input and another as standard output, so that the
/// end of its output is detected while its input is open. It runs under a supervisor, see
/// run_supervised(): its descendants end with it. Its standard error is discarded except for the
/// last words, which are appended to error messages. The destructor kills it. By the protocol it
/// exits at the end of its input.
class Program {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts `file` with one argument. Throws InputError if it cannot be executed, and Error if no
  /// process or descriptor is left.
  Program(const std::filesystem::path& file, const char* argument);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Sends the request `line` and returns the next line of the program, without line feed. `name`:
  /// of the request, for messages. `stop` may be empty; it is polled ten times a second, and if it
  /// returns true the program is killed and there is no answer. Throws ProgramEnded if the
  /// program ends (the message says how), StrayLine if it wrote an unrequested line before, and
  /// Error if its line exceeds 1 MiB or does not come within `limit`.
  std::optional<std::string> ask(std::string_view name, const std::string& line,
                                 const std::function<bool()>& stop = {},
                                 std::optional<std::chrono::milliseconds> limit = {});
  /// Throws StrayLine if the program has written an unrequested line. `request`: the name of the
  /// request that the line answers again; empty: the last one.
  void refuse_stray_line(std::string_view request = {});
  /// Returns the program's whole output after it has exited with status 0. Throws InputError if it
  /// ends otherwise, takes more than a minute, or prints more than 1 MiB.
  std::string output();

 private:
  void send(std::string line);
  bool receive(int wait_ms);
  std::string end_text();
  std::string sentence(std::string text);

  std::filesystem::path file_;
  apps::Descriptor input_;   // the program's input: requests
  apps::Descriptor output_;  // the program's output: answers
  apps::LastWords words_;
  bool open_ = true;  // the output has not ended
  std::string received_;
  std::string request_;  // name of the last answered request; empty: none
  apps::SpawnedProcess process_{apps::SpawnedProcess::Reach::group};
};

/// The started process's side of Program's constructor: becomes the supervisor and, in its child,
/// executes the program. `socket`: the packet socket to the process `parent`, to which errors are
/// reported. Returns only on failure.
void become_program(int socket, pid_t parent, const std::string& file,
                    const std::vector<std::string>& arguments);

/// Command line of a process that becomes the program, see become_program().
std::vector<std::string> program_command(const std::filesystem::path& file,
                                         const std::vector<std::string>& arguments);
/// Waits until a process with this command line executes the program. `started`: the other end of
/// its socket; `words`: its output. Throws InputError if the program cannot be executed, and Error
/// if the process fails otherwise.
void wait_for_start(int started, const std::filesystem::path& file, apps::LastWords& words);

/// A program's line, shortened and quoted for a message.
std::string quoted_line(std::string_view line);

}  // namespace lloyd::external
