// ChildProcess: runs a function in a forked process, so that a crash does not end this one.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ipc/descriptor.hpp"
#include "ipc/last_words.hpp"
#include "output/foreign_output.hpp"
#include "process/spawned_process.hpp"

namespace lloyd::apps {

/// A forked child under a supervisor, see run_supervised(): it ends with this process, and its
/// descendants end with it. It reports lines through a pipe. Its standard input is /dev/null; its
/// output is forwarded during wait(), see ForeignOutput. A sanitizer report aborts it.
class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;
  /// The child's connection to its parent. If code in the child has closed its descriptors, both
  /// functions end the child, see lost_pipe().
  class Reporter {
   public:
    Reporter(int lines, int turns) : lines_(lines), turns_(turns) {}
    /// Reports one line, given without line feed.
    void operator()(std::string_view line) const;
    /// Waits for a call of resume(), one for each call of this function.
    void await_turn() const;

   private:
    int lines_;
    int turns_;
  };
  /// Body of the child; returns the exit status. Must not throw.
  using Work = std::function<int(const Reporter& report)>;
  enum class Event { line, ended, timed_out, stopped };

  /// Forks. Call it while this process has a single thread and has loaded no library that does not
  /// survive a fork. Throws Error if the child cannot be started.
  explicit ChildProcess(const Work& work);
  /// Kills the child and its descendants.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Waits until the child has reported a line or ended, the deadline has passed, or `stop` returns
  /// true. `stop` may be empty; it is polled at least ten times a second. All lines of a child are
  /// returned before Event::ended.
  Event wait(Clock::time_point deadline, const std::function<bool()>& stop = {});
  /// The line of the last Event::line, without line feed.
  const std::string& line() const { return line_; }
  /// Valid after Event::ended.
  const ProcessEnd& end() const { return process_.end(); }
  /// Lets the child return from Reporter::await_turn().
  void resume();
  /// The summary of a sanitizer's report, or what the child printed last since forget_words();
  /// complete after Event::ended. Empty if it printed nothing.
  std::string last_words();
  /// Leaves what was printed so far out of last_words(). Call it while the child waits for its
  /// turn: it may otherwise forget words that belong to what the child does next. What the reader
  /// of standard error has not taken yet is not forgotten.
  void forget_words();
  /// True if the child ended because it could not report: code in it has closed the pipe.
  bool lost_pipe() const;

 private:
  bool take_line();
  bool read_pipe();
  void finish_output();

  Descriptor pipe_;  ///< closed after end of file
  Descriptor turns_;
  KeptOutput words_{16384};
  std::optional<ForeignOutput> output_;
  std::string buffer_;
  std::string line_;
  SpawnedProcess process_{SpawnedProcess::Reach::group};
};

}  // namespace lloyd::apps
