// WorkerProcess: a child program that answers packets, isolated from this process.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ipc/descriptor.hpp"
#include "ipc/last_words.hpp"
#include "ipc/packet_socket.hpp"
#include "process/spawned_process.hpp"

namespace lloyd::apps {

/// A process in its own group, killed together with its descendants; see also run_supervised(). It
/// gets one end of a packet socket, /dev/null as standard input, and no other descriptor of this
/// process. Its output is discarded during wait(), except for the last words.
class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;
  /// `lost`: the socket is closed, so no answer can come, but the process has not ended within
  /// kGrace.
  enum class Event { answer, ended, lost, timed_out, stopped, over_memory };

  /// Starts `command` (the program's path, then its arguments) with the socket as descriptor
  /// `socket` (>= 3). `scratch` becomes its TMPDIR; empty: unchanged. Throws Error.
  WorkerProcess(const std::vector<std::string>& command, int socket,
                const std::filesystem::path& scratch = {});
  /// Calls hang_up(), waits at most kGrace for the process to end, then kills it and its
  /// descendants.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Time to end after the socket is closed.
  static constexpr std::chrono::seconds kGrace{2};

  /// Limits of a wait.
  struct Limits {
    std::optional<Clock::time_point> deadline;  ///< none: unlimited
    std::optional<std::int64_t> memory_bytes;   ///< resident, of the process or of one child
    std::function<bool()> stop;  ///< polled at least ten times a second; may be empty
  };

  /// Sends a packet with copies of the descriptors, and clears the last words. If the process has
  /// ended, the next wait() reports it.
  void send(std::string_view text, const std::vector<int>& descriptors = {});
  /// Waits for an answer, the end of the process, or a limit. Answers sent before the end are
  /// returned first.
  Event wait(const Limits& limits);
  /// Closes the socket and waits for the end of the process, as long as the limits allow, not only
  /// kGrace.
  Event wait_for_end(const Limits& limits);
  /// Text of the packet of the last Event::answer.
  const std::string& answer() const { return packet_.text; }
  /// Descriptors of that packet.
  const std::vector<Descriptor>& descriptors() const { return packet_.descriptors; }
  /// Valid after Event::ended.
  const ProcessEnd& end() const { return process_.end(); }
  /// Peak resident memory seen by wait() since the last send(), in bytes; 0 if no limit was set.
  std::int64_t memory_bytes() const { return memory_bytes_; }
  /// Tail of the output since the last send(); may be empty.
  std::string last_words() const { return words_.text(); }
  /// True if the process has ended; does not wait.
  bool has_ended() { return process_.has_ended(); }

  /// Sends SIGTERM: requests the process to stop its work.
  void cancel() { process_.signal(SIGTERM); }
  /// Closes the socket, which tells the process to end, and starts kGrace.
  void hang_up();
  /// Kills the process and its descendants.
  void kill() { process_.kill(); }

 private:
  bool is_over(std::int64_t limit);

  Descriptor socket_;
  Packet packet_;
  LastWords words_;
  std::optional<Clock::time_point> lost_;  ///< when either side closed the socket
  std::int64_t memory_bytes_ = 0;
  SpawnedProcess process_{SpawnedProcess::Reach::group};
};

}  // namespace lloyd::apps
