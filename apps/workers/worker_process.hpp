// WorkerProcess: a program that answers packets, and may do anything else to itself.
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

/// A process in a group of its own, which is killed with all that it has started; see also
/// run_supervised(). It has one end of
/// a packet socket, an empty standard input, and no other descriptor of this process. What it
/// writes to standard output and standard error is read and thrown away while this process waits
/// for it, but for the last words.
class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;
  /// `lost`: it can answer no more, since it has closed its socket, and does not end either.
  enum class Event { answer, ended, lost, timed_out, stopped, over_memory };

  /// Starts `command`, a program's path and its arguments, with the socket as descriptor
  /// `socket`. `scratch` is the folder for its temporary files; empty: the system's. Throws Error.
  WorkerProcess(const std::vector<std::string>& command, int socket,
                const std::filesystem::path& scratch = {});
  /// Lets the process end by itself until kGrace after hang_up(), and kills what is left of it.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// What a process that can do no more is given to end by itself.
  static constexpr std::chrono::seconds kGrace{2};

  /// What there is to wait for.
  struct Limits {
    std::optional<Clock::time_point> deadline;  ///< none: no end
    std::optional<std::int64_t> memory_bytes;   ///< resident in the process or a child of it
    std::function<bool()> stop;                 ///< asked ten times a second and more; may be empty
  };

  /// Sends a packet with copies of the descriptors, and forgets the last words. Where the process
  /// has ended, the next wait() says so.
  void send(std::string_view text, const std::vector<int>& descriptors = {});
  /// Waits for an answer, the process's end, or what the limits say. An answer that came before the
  /// end comes first.
  Event wait(const Limits& limits);
  /// The packet that wait() has seen.
  const std::string& answer() const { return packet_.text; }
  /// What came with it.
  const std::vector<Descriptor>& descriptors() const { return packet_.descriptors; }
  /// How the process ended, after wait() has said so.
  const ProcessEnd& end() const { return process_.end(); }
  /// The most memory that wait() has seen resident since the last send(), in bytes; 0 without a
  /// limit.
  std::int64_t memory_bytes() const { return memory_bytes_; }
  /// The end of what the process has printed since the last send(); may be empty.
  std::string last_words() const { return words_.text(); }
  /// Whether the process has ended, without waiting.
  bool has_ended() { return process_.has_ended(); }

  /// Asks the process to end what it does.
  void cancel() { process_.signal(SIGTERM); }
  /// Closes the socket, which is the sign to end. What the process is given for it begins now.
  void hang_up();
  /// Kills the process and what it has started.
  void kill() { process_.kill(); }

 private:
  bool is_over(std::int64_t limit);

  Descriptor socket_;
  Packet packet_;
  LastWords words_;
  std::optional<Clock::time_point> lost_;  ///< when one side closed the socket
  std::int64_t memory_bytes_ = 0;
  SpawnedProcess process_{SpawnedProcess::Reach::group};
};

}  // namespace lloyd::apps
