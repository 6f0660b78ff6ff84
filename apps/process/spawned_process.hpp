// SpawnedProcess: a process that this one has started, until it is known how it ended.
#pragma once

#include <sys/types.h>

#include <string>

namespace lloyd::apps {

/// How a process ended.
struct ProcessEnd {
  bool signalled = false;
  int code = 0;  ///< the exit status, or the number of the signal

  bool clean() const { return !signalled && code == 0; }
  /// "exit(3)", "signal 11 (Segmentation fault)".
  std::string text() const;
};

/// Whoever starts the process hands it over with adopt(); it does not outlive this object.
class SpawnedProcess {
 public:
  /// What is killed: the process alone, or, where it leads a group, all that it has started too.
  enum class Reach { process, group };

  explicit SpawnedProcess(Reach reach) : reach_(reach) {}
  ~SpawnedProcess() { kill(); }
  SpawnedProcess(const SpawnedProcess&) = delete;
  SpawnedProcess& operator=(const SpawnedProcess&) = delete;

  void adopt(pid_t pid);
  pid_t pid() const { return pid_; }

  /// Whether the process has ended, without waiting. What is left of its group is killed then.
  bool has_ended();
  /// Sends a signal to the process, unless it was seen to have ended.
  void signal(int number);
  /// Kills what there is and waits for the process's end. Nothing without a process that lives.
  void kill();

  /// Whether has_ended() or kill() have seen the end.
  bool ended() const { return ended_; }
  /// How it ended, once that was seen.
  const ProcessEnd& end() const { return end_; }

 private:
  void conclude(bool signalled, int code);

  Reach reach_;
  pid_t pid_ = -1;
  bool ended_ = false;
  ProcessEnd end_;
};

}  // namespace lloyd::apps
