// LaunchedProgram: a program that runs to its end without an exchange of messages.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ipc/last_words.hpp"
#include "process/spawned_process.hpp"

namespace lloyd::external {

/// A child process under a supervisor, see run_supervised(): its descendants end with it, and it
/// ends with this process. Its input is empty; its output is discarded except for the last words.
class LaunchedProgram {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Event { ended, timed_out, stopped };

  /// Time to end after SIGTERM.
  static constexpr std::chrono::seconds kGrace{5};

  /// Starts `file`. Throws InputError if it cannot be executed, and Error if no process or
  /// descriptor is left.
  LaunchedProgram(const std::filesystem::path& file, const std::vector<std::string>& arguments);
  /// Calls terminate().
  ~LaunchedProgram();
  LaunchedProgram(const LaunchedProgram&) = delete;
  LaunchedProgram& operator=(const LaunchedProgram&) = delete;

  /// Waits until the program has ended, the deadline has passed, or `stop`, which is polled at
  /// least every 20 ms and may be empty, returns true.
  Event wait(std::optional<Clock::time_point> deadline, const std::function<bool()>& stop);
  /// Asks the program to end (SIGTERM), and kills it and its descendants if it has not ended within
  /// kGrace.
  void terminate();

  /// Valid after Event::ended.
  const apps::ProcessEnd& end() const { return process_.end(); }
  /// Tail of its output; may be empty.
  std::string last_words() const;
  /// The last line of its output that begins with `prefix`, without it; empty if there is none.
  std::string last_line(std::string_view prefix) const { return words_.last_line(prefix); }

 private:
  static constexpr std::size_t kMaxBytes = 16384;  // launchers may add much to a message

  apps::LastWords words_{kMaxBytes};
  apps::SpawnedProcess process_{apps::SpawnedProcess::Reach::group};
};

}  // namespace lloyd::external
