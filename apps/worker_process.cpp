#include "worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

#include <lloyd/error.hpp>

#include "machine/affinity.hpp"

namespace lloyd::apps {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLastWords = 300;   // bytes
constexpr milliseconds kApart{100};       // of looks at what cannot be waited for
constexpr milliseconds kMemoryApart{10};  // of looks at the memory
constexpr std::string_view kTemporary = "TMPDIR=";

[[noreturn]] void fail(const char* what, int error) {
  throw Error(fmt::format("cannot {}: {}", what, descriptor_error(error)));
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> worker_environment(const std::filesystem::path& scratch) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const bool replaced = !scratch.empty() && std::string_view(*variable).starts_with(kTemporary);
    if (!replaced) variables.emplace_back(*variable);
  }
  if (!scratch.empty()) variables.push_back(std::string(kTemporary) + scratch.string());
  return variables;
}

// Owns what posix_spawn is told.
class SpawnPlan {
 public:
  SpawnPlan(int socket_from, int socket_to, int output) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, socket_from, socket_to);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, socket_to + 1);
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  int start(pid_t& pid, std::vector<std::string> command, std::vector<std::string> environment) {
    return ::posix_spawn(&pid, command.front().c_str(), &actions_, &attributes_,
                         pointers(command).data(), pointers(environment).data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// 0 where it cannot be told.
std::int64_t resident_bytes(pid_t pid) {
  std::FILE* const file = std::fopen(fmt::format("/proc/{}/statm", pid).c_str(), "re");
  if (file == nullptr) return 0;
  long long pages = 0;
  const int read = std::fscanf(file, "%*s %lld", &pages);
  std::fclose(file);
  return read == 1 ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

// A process and those that it has started: where it is a supervisor, its child is what grows.
std::vector<pid_t> with_children(pid_t pid) {
  std::vector<pid_t> processes = {pid};
  const std::string name = fmt::format("/proc/{0}/task/{0}/children", pid);
  std::FILE* const file = std::fopen(name.c_str(), "re");
  if (file == nullptr) return processes;
  for (pid_t child = 0; std::fscanf(file, "%d", &child) == 1;) processes.push_back(child);
  std::fclose(file);
  return processes;
}

}  // namespace

std::string printable_ascii(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (blank && (result.empty() || result.back() == ' ')) continue;
    const bool shown = c > ' ' && c < 0x7f;
    result += blank ? ' ' : shown ? c : '?';
  }
  if (result.ends_with(' ')) result.pop_back();
  return result;
}

WorkerProcess::WorkerProcess(const std::vector<std::string>& command, int socket,
                             const std::filesystem::path& scratch) {
  ::signal(SIGCHLD, SIG_DFL);  // where it is ignored, nobody can tell how a process ended
  auto [mine, its] = make_packet_sockets();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("make a pipe", errno);
  output_ = Descriptor(ends[0]);
  Descriptor write_end(ends[1]);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  // Out of the way of the descriptors that the new process has.
  const int first_free = socket + 1;
  Descriptor from(::fcntl(its.get(), F_DUPFD_CLOEXEC, first_free));
  Descriptor output(::fcntl(write_end.get(), F_DUPFD_CLOEXEC, first_free));
  if (!from || !output) fail("duplicate a descriptor", errno);
  // Or the new process stays where this thread is bound, which computes nothing from here on.
  machine::run_on(machine::processors_at_start());
  pid_t pid = -1;
  const int error =
      SpawnPlan(from.get(), socket, output.get()).start(pid, command, worker_environment(scratch));
  if (error != 0) fail("start a process", error);
  process_.adopt(pid);
  socket_ = std::move(mine);
}

WorkerProcess::~WorkerProcess() {
  hang_up();
  wait({});  // it is lost after that time
}

void WorkerProcess::send(std::string_view text, const std::vector<int>& descriptors) {
  drain();
  words_.clear();
  memory_bytes_ = 0;
  if (socket_ && !send_packet(socket_.get(), text, descriptors)) hang_up();
}

WorkerProcess::Event WorkerProcess::wait(const Limits& limits) {
  while (true) {
    drain();
    const bool ended = has_ended();  // first: what it has said before is there then
    if (socket_) {
      const Received received = receive_packet(socket_.get(), false, packet_);
      if (received == Received::packet) return Event::answer;
      if (received == Received::end) hang_up();
    }
    if (ended) {
      drain();
      return Event::ended;
    }
    if (lost_ && Clock::now() - *lost_ >= kGrace) return Event::lost;
    if (limits.stop && limits.stop()) return Event::stopped;
    if (limits.memory_bytes && is_over(*limits.memory_bytes)) return Event::over_memory;
    milliseconds slice = limits.memory_bytes ? kMemoryApart : kApart;
    if (!socket_) slice = milliseconds(1);  // it is about to end
    if (limits.deadline) {
      const auto left = std::chrono::ceil<milliseconds>(*limits.deadline - Clock::now());
      if (left.count() <= 0) return Event::timed_out;
      slice = std::min(slice, left);
    }
    // Negative descriptors are passed over.
    std::array<pollfd, 2> waited = {{{socket_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}}};
    ::poll(waited.data(), waited.size(), static_cast<int>(slice.count()));
  }
}

void WorkerProcess::hang_up() {
  socket_.close();
  if (!lost_) lost_ = Clock::now();
}

// Reads what was printed, but not without end: who prints faster than this can read is waited for
// nevertheless.
void WorkerProcess::drain() {
  std::array<char, 4096> bytes;  // on the stack, which may be small
  for (int reads = 0; reads < 256 && output_; ++reads) {
    const ssize_t count = ::read(output_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      output_.close();
      return;
    }
    const auto size = static_cast<std::size_t>(count);
    const std::size_t kept = std::min(size, kLastWords);
    words_.append(bytes.data() + (size - kept), kept);
    if (words_.size() > kLastWords) words_.erase(0, words_.size() - kLastWords);
  }
}

bool WorkerProcess::is_over(std::int64_t limit) {
  for (const pid_t pid : with_children(process_.pid())) {
    memory_bytes_ = std::max(memory_bytes_, resident_bytes(pid));
  }
  return memory_bytes_ > limit;
}

}  // namespace lloyd::apps
