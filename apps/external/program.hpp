// Program: an external program that is kept running and answers requests.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "spawned_process.hpp"

namespace lloyd::external {

/// A child process whose standard input and output are one socket; its standard error is this
/// process's. It is killed with this object, and ends by itself when its input does.
class Program {
 public:
  /// Starts `file` with one argument. Throws Error where it cannot be started.
  Program(const std::filesystem::path& file, const char* argument);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Sends a line and waits for the next one, without its line feed. `stop` is asked ten times a
  /// second and may be empty; once it returns true the program is killed and there is no answer.
  /// Throws Error when the program ends instead, with how, or answers a line without end.
  std::optional<std::string> ask(const std::string& line, const std::function<bool()>& stop = {});
  /// All that it prints until it ends with status 0. Throws Error for another end, after a minute,
  /// and for more than a description can be.
  std::string output();

 private:
  void send(std::string line);
  bool receive(int wait_ms);
  std::string end_text();

  std::filesystem::path file_;
  int socket_ = -1;
  bool open_ = true;  // whether it may still write
  std::string received_;
  apps::SpawnedProcess process_{apps::SpawnedProcess::Reach::process};
};

}  // namespace lloyd::external
