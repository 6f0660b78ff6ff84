// SpawnedProcess: owns a child process until it has been reaped.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

namespace lloyd::apps {

/// End of a process.
struct ProcessEnd {
  bool signalled = false;
  int code = 0;  ///< the exit status, or the number of the signal

  bool clean() const { return !signalled && code == 0; }
  /// "exit(3)", "signal 11 (Segmentation fault)".
  std::string text() const;
};

/// Owns the process passed to adopt(); the destructor kills it.
class SpawnedProcess {
 public:
  /// What kill() kills: the process alone, or the process, which must lead its group, with the
  /// group and all its descendants.
  enum class Reach { process, group };

  explicit SpawnedProcess(Reach reach) : reach_(reach) {}
  ~SpawnedProcess() { kill(); }
  SpawnedProcess(const SpawnedProcess&) = delete;
  SpawnedProcess& operator=(const SpawnedProcess&) = delete;

  /// The processes of all objects that have not been reaped.
  static const std::set<pid_t>& all();

  void adopt(pid_t pid);
  pid_t pid() const { return pid_; }

  /// True if the process has ended; does not wait. If it has, the rest of its group is killed.
  bool has_ended();
  /// Sends a signal to the process. No effect once ended().
  void signal(int number);
  /// Kills the process (see Reach) and waits for its end. No effect without a process or once
  /// ended().
  void kill();

  /// True after has_ended() or kill() reaped the process.
  bool ended() const { return ended_; }
  /// Valid once ended().
  const ProcessEnd& end() const { return end_; }

 private:
  void conclude(bool signalled, int code);

  Reach reach_;
  pid_t pid_ = -1;
  bool ended_ = false;
  ProcessEnd end_;
};

}  // namespace lloyd::apps
