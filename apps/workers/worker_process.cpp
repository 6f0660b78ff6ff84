#include "workers/worker_process.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>

#include <fmt/format.h>

#include "machine/processors/affinity.hpp"
#include "process/spawn.hpp"

namespace lloyd::apps {
namespace {

using std::chrono::milliseconds;

// Polling interval of conditions that poll(2) cannot wait for.
constexpr milliseconds kApart{100};
constexpr milliseconds kMemoryApart{10};  // polling interval of the memory limit
constexpr std::string_view kTemporary = "TMPDIR=";

std::vector<std::string> worker_environment(const std::filesystem::path& scratch) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const bool replaced = !scratch.empty() && std::string_view(*variable).starts_with(kTemporary);
    if (!replaced) variables.emplace_back(*variable);
  }
  if (!scratch.empty()) variables.push_back(std::string(kTemporary) + scratch.string());
  return variables;
}

// 0 if unknown.
std::int64_t resident_bytes(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  std::int64_t all = 0;
  std::int64_t resident = 0;  // both in pages
  return file >> all >> resident ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

// The process and its children: if it is a supervisor, its child uses the memory.
std::vector<pid_t> with_children(pid_t pid) {
  std::vector<pid_t> processes = {pid};
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid));
  for (pid_t child = 0; file >> child;) processes.push_back(child);
  return processes;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command, int socket,
                             const std::filesystem::path& scratch) {
  ::signal(SIGCHLD, SIG_DFL);  // with SIG_IGN, exit statuses are lost
  auto [mine, its] = make_packet_sockets();
  const Descriptor output = words_.take_output();
  std::vector<int> descriptors(static_cast<std::size_t>(socket) + 1, -1);
  descriptors[STDOUT_FILENO] = descriptors[STDERR_FILENO] = output.get();
  descriptors.back() = its.get();
  // A child inherits the affinity of this thread, which may have been bound since the start. This
  // thread stays unbound.
  machine::run_on(machine::processors_at_start());
  const std::vector<std::string> environment = worker_environment(scratch);
  process_.adopt(spawn(command, descriptors, &environment));
  socket_ = std::move(mine);
}

WorkerProcess::~WorkerProcess() {
  hang_up();
  wait({});  // returns after kGrace at the latest, with Event::lost
}

void WorkerProcess::send(std::string_view text, const std::vector<int>& descriptors) {
  words_.drain();
  words_.clear();
  memory_bytes_ = 0;
  if (socket_ && !send_packet(socket_.get(), text, descriptors)) hang_up();
}

WorkerProcess::Event WorkerProcess::wait(const Limits& limits) {
  while (true) {
    words_.drain();
    // Before receiving: all packets sent before the end are in the socket then.
    const bool ended = has_ended();
    if (socket_) {
      const Received received = receive_packet(socket_.get(), false, packet_);
      if (received == Received::packet) return Event::answer;
      if (received == Received::end) hang_up();
    }
    if (ended) {
      words_.drain();
      return Event::ended;
    }
    if (lost_ && Clock::now() - *lost_ >= kGrace) return Event::lost;
    if (limits.stop && limits.stop()) return Event::stopped;
    if (limits.memory_bytes && is_over(*limits.memory_bytes)) return Event::over_memory;
    milliseconds slice = limits.memory_bytes ? kMemoryApart : kApart;
    if (!socket_) slice = milliseconds(1);  // the process is about to end
    if (limits.deadline) {
      const auto left = std::chrono::ceil<milliseconds>(*limits.deadline - Clock::now());
      if (left.count() <= 0) return Event::timed_out;
      slice = std::min(slice, left);
    }
    // poll(2) ignores negative descriptors.
    std::array<pollfd, 2> waited = {{{socket_.get(), POLLIN, 0}, {words_.descriptor(), POLLIN, 0}}};
    ::poll(waited.data(), waited.size(), static_cast<int>(slice.count()));
  }
}

WorkerProcess::Event WorkerProcess::wait_for_end(const Limits& limits) {
  hang_up();
  lost_.reset();
  return wait(limits);
}

void WorkerProcess::hang_up() {
  socket_.close();
  if (!lost_) lost_ = Clock::now();
}

bool WorkerProcess::is_over(std::int64_t limit) {
  for (const pid_t pid : with_children(process_.pid())) {
    memory_bytes_ = std::max(memory_bytes_, resident_bytes(pid));
  }
  return memory_bytes_ > limit;
}

}  // namespace lloyd::apps
