// ChildProcess: work in a process of its own, whose end does not end this one.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ipc/descriptor.hpp"
#include "output/foreign_output.hpp"
#include "process/spawned_process.hpp"

namespace lloyd::apps {

/// A child that reports lines through a pipe, under a supervisor, see run_supervised(): it ends
/// with this process, and what it has started ends with it. Its standard input is empty. What it
/// prints is passed on while this process waits for it, see ForeignOutput. After a report of
/// AddressSanitizer it aborts.
class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;
  /// Reports one line, without its line feed.
  using Reporter = std::function<void(std::string_view line)>;
  /// What the child does; returns its exit status. It must not throw.
  using Work = std::function<int(const Reporter& report)>;
  enum class Event { line, ended, timed_out, stopped };

  /// Forks: call it while this process has one thread and has loaded nothing that another process
  /// could not go on with. Throws Error where there can be no further process.
  explicit ChildProcess(const Work& work);
  /// Kills the child and what it has started.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Waits until the child has reported a line or ended, the deadline has passed, or `stop`, which
  /// is asked at least ten times a second and may be empty, returns true. The lines of a child that
  /// ended come before its end.
  Event wait(Clock::time_point deadline, const std::function<bool()>& stop = {});
  /// The line that wait() has seen, without its line feed.
  const std::string& line() const { return line_; }
  /// How the child ended, after wait() has said so.
  const ProcessEnd& end() const { return process_.end(); }
  /// Whether it ended because it could not report any more: something in it has closed the pipe.
  bool lost_pipe() const;

 private:
  bool take_line();
  bool read_pipe();

  Descriptor pipe_;  ///< none once it has been read to its end
  std::optional<ForeignOutput> output_;
  std::string buffer_;
  std::string line_;
  SpawnedProcess process_{SpawnedProcess::Reach::group};
};

}  // namespace lloyd::apps
