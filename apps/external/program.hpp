// Program: an external program that is kept running and answers requests.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ipc/descriptor.hpp"
#include "ipc/last_words.hpp"
#include "process/spawned_process.hpp"

namespace lloyd::external {

/// A child process whose standard input and output are a socket each, so that the end of its output
/// is seen while its input is open. It runs under a supervisor, see
/// run_supervised(): what it has started ends with it. What it writes to standard error is read and
/// thrown away, but for the last words, which the sentences about it end with. It is killed with
/// this object, and ends by itself when its input does.
class Program {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts `file` with one argument. Throws InputError where it cannot be executed, and Error
  /// where this machine has no process or descriptor left.
  Program(const std::filesystem::path& file, const char* argument);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Sends the request `name`, a line, and waits for the next line, without its line feed. `stop`
  /// is asked ten times a second and may be empty; once it returns true the program is killed and
  /// there is no answer. Throws Error when the program ends instead, with how, when it answers a
  /// line without end or not within `limit`, and when it has written a line that nobody waited for.
  std::optional<std::string> ask(std::string_view name, const std::string& line,
                                 const std::function<bool()>& stop = {},
                                 std::optional<std::chrono::milliseconds> limit = {});
  /// Throws Error where the program has written a line that nobody waited for.
  void refuse_stray_line();
  /// All that it prints until it ends with status 0. Throws InputError for another end, after a
  /// minute, and for more than a description can be.
  std::string output();

 private:
  void wait_for_start(int started);
  void send(std::string line);
  bool receive(int wait_ms);
  std::string end_text();
  std::string sentence(std::string text);

  std::filesystem::path file_;
  apps::Descriptor input_;   // of the program: requests
  apps::Descriptor output_;  // of the program: answers
  apps::LastWords words_;
  bool open_ = true;  // whether it may still write
  std::string received_;
  std::string request_;  // the last one that was answered; empty: none
  apps::SpawnedProcess process_{apps::SpawnedProcess::Reach::group};
};

/// The other side of Program's start, in the process that it has started: goes on as the supervisor
/// and, in a child of that, becomes the program. `socket` leads to Program, `parent` is its
/// process. Returns where that cannot be; Program is told why.
void become_program(int socket, pid_t parent, const std::string& file, const std::string& argument);

/// What a program wrote, shortened, for a sentence.
std::string quoted_line(std::string_view line);

}  // namespace lloyd::external
