// Performs hostile actions in its calls: LLOYD_HOSTILE is "<call> <action>", or several of these
// with ';' between them; act() lists the actions.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <lloyd/plugin/abi/session_notes.hpp>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

using namespace lloyd;

[[noreturn]] void hang() {
  while (true) ::pause();
}

void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

// A process that has left its session, its parent and its process group.
void start_daemon() {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  block_signals();
  hang();
}

// A process that has left its session and kills the supervisor, which would find it.
void escape() {
  const pid_t supervisor = ::getppid();
  if (::fork() != 0) return;
  ::setsid();
  block_signals();
  ::kill(supervisor, SIGKILL);
  hang();
}

// 30 lines of 5000 processes each: every process lives for a millisecond, starts its successor, and
// keeps a named pipe open. The number is limited because they may escape; the last process of each
// line writes to the pipe. A line lasts for seconds, so that a slow machine can end it before.
void respawn() {
  constexpr int kLines = 30;
  constexpr int kGenerations = 5000;
  const int pipe = ::open(std::getenv("LLOYD_HOSTILE_PIPE"), O_WRONLY);
  if (pipe < 0) std::abort();
  for (int line = 0; line < kLines; ++line) {
    if (::fork() != 0) continue;
    ::setsid();
    for (int generation = 0; generation < kGenerations; ++generation) {
      ::usleep(1000);
      if (::fork() != 0) ::_exit(0);
    }
    [[maybe_unused]] const auto written = ::write(pipe, "x", 1);
    ::_exit(0);
  }
}

std::atomic<bool> output_locked{false};

// Holds the lock of standard output until the process ends.
void* keep_output_locked(void*) {
  ::flockfile(stdout);
  output_locked = true;
  hang();
}

void lock_output() {
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, &keep_output_locked, nullptr) != 0) std::abort();
  while (!output_locked) ::usleep(1000);
}

// Waits in uninterruptible sleep, as for a device: the caller of vfork() waits so until its child
// ends.
void* wait_for_child(void*) {
  // The child has its own memory, unlike that of vfork().
  if (::syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0) hang();
  return nullptr;
}

void start_waiting_thread() {
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, &wait_for_child, nullptr) != 0) std::abort();
  ::pthread_detach(thread);
}

// Truncates the file that the data is mapped from.
void cut_input() {
  if (::truncate(std::getenv("LLOYD_HOSTILE_INPUT"), 0) != 0) std::abort();
}

void close_all() {
  for (int descriptor = 0; descriptor < 1024; ++descriptor) ::close(descriptor);
}

// Prints 64 MiB of lines.
void print_much() {
  const std::string line = std::string(1023, '{') + '\n';
  for (int i = 0; i < 1 << 16; ++i) std::fwrite(line.data(), 1, line.size(), stderr);
}

// Writes to standard output until the process ends.
void* print_on(void*) {
  const std::string line = "NOISE\n";
  while (::write(STDOUT_FILENO, line.data(), line.size()) >= 0) ::usleep(20);
  return nullptr;
}

void start_printing_thread() {
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, &print_on, nullptr) == 0) ::pthread_detach(thread);
}

// Makes one of the command's outputs a symbolic link to one of its inputs.
void link_output() {
  const char* const input = std::getenv("LLOYD_HOSTILE_INPUT");
  const char* const output = std::getenv("LLOYD_HOSTILE_OUTPUT");
  if (::symlink(input, output) != 0) std::abort();
}

// Briefly allocates 300 MiB beyond the backend's estimate.
void exceed_memory() {
  const std::string taken(std::size_t{300} << 20, 'x');
  if (std::getenv(taken.c_str()) != nullptr) std::abort();  // keeps the compiler from removing it
}

void act(const std::string& what) {
  if (what == "hang") hang();
  if (what == "hang-deaf") {
    block_signals();
    hang();
  }
  if (what == "crash") std::abort();
  if (what == "exit") std::_Exit(0);
  if (what == "lock-output") lock_output();
  if (what == "lock-output-and-wait") {
    lock_output();
    start_waiting_thread();
  }
  if (what == "cut-input") cut_input();
  if (what == "raise-pipe") ::raise(SIGPIPE);
  if (what == "throw") throw 42;
  if (what == "exit-thread") ::pthread_exit(nullptr);
  if (what == "lose-thread") {
    const std::thread never_joined([] { ::pause(); });
  }
  if (what == "complain") std::fputs("error: no huge pages\n", stderr);
  if (what == "throw-nothing") throw std::runtime_error("");
  if (what == "say-and-crash") {
    std::fputs("tile 7 of 4\n", stderr);
    std::abort();
  }
  if (what == "report-and-crash") {
    const std::string shadow_bytes(4000, '0');
    std::fprintf(stderr, "==7==ERROR: a sanitizer\nSUMMARY: a sanitizer: kernel.cpp:9\n%s\n",
                 shadow_bytes.c_str());
    std::abort();
  }
  if (what == "start-daemon") start_daemon();
  if (what == "escape") escape();
  if (what == "respawn") respawn();
  if (what == "close-all") close_all();
  if (what == "kill-parent") ::kill(::getppid(), SIGKILL);
  if (what == "stop-parent") ::kill(::getppid(), SIGSTOP);
  if (what == "print") {
    std::printf("\x1b]0;out\x07\r\x1b[2J\xc2\x9b");
    std::fflush(stdout);
    // A UTF-8 character in two writes, and an unterminated line.
    for (const char* piece : {"\x1b[31merr\n", "caf\xc3", "\xa9"}) {
      std::fputs(piece, stderr);
      ::usleep(1000);
    }
  }
  if (what == "print-much") print_much();
  if (what == "print-on") start_printing_thread();
  if (what == "fork-and-return") ::fork();
  if (what == "link-output") link_output();
  if (what == "take-memory") exceed_memory();
}

void in_call(const std::string& call) {
  const char* const text = std::getenv("LLOYD_HOSTILE");
  std::istringstream all(text == nullptr ? "" : text);
  for (std::string wanted; std::getline(all, wanted, ';');) {
    if (wanted.starts_with(call + " ")) act(wanted.substr(call.size() + 1));
  }
}

class Notes final : public SessionNotes {
 public:
  const char* notes() const noexcept override {
    in_call("notes");
    return "";
  }
};

class HostileSession final : public Session {
 public:
  explicit HostileSession(Session* honest) : honest_(honest) {}

  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override {
    in_call("fit");
    return honest_->fit(spec, observer, result);
  }
  Status label(const LabelRequest& request, Observer* observer,
               LabelResult& result) noexcept override {
    in_call("label");
    return honest_->label(request, observer, result);
  }
  Status partial(const PartialRequest& request, Observer* observer,
                 PartialResult& result) noexcept override {
    in_call("partial");
    return honest_->partial(request, observer, result);
  }
  void* query(const char* name) noexcept override {
    in_call("query");
    if (std::strcmp(name, kSessionNotes) == 0) return static_cast<SessionNotes*>(&notes_);
    return honest_->query(name);
  }
  void release() noexcept override {
    in_call("release-session");
    honest_->release();
    delete this;
  }

 private:
  Session* honest_;
  Notes notes_;
};

class HostileBackend final : public Backend {
 public:
  explicit HostileBackend(Backend* honest) : honest_(honest) {}

  const BackendInfo* info() const noexcept override { return honest_->info(); }
  Status supports(const ProblemShape& shape, const ParameterList& parameters,
                  const FitSpec& spec) const noexcept override {
    in_call("supports");
    return honest_->supports(shape, parameters, spec);
  }
  Status estimate(const ProblemShape& shape, const ParameterList& parameters, const FitSpec& spec,
                  MemoryEstimate& memory) const noexcept override {
    in_call("estimate");
    return honest_->estimate(shape, parameters, spec, memory);
  }
  Status open(const DatasetView& dataset, const ParameterList& parameters,
              Session** session) noexcept override {
    in_call("open");
    Session* honest = nullptr;
    const Status status = honest_->open(dataset, parameters, &honest);
    if (status.ok()) *session = new HostileSession(honest);
    return status;
  }
  void* query(const char* name) noexcept override { return honest_->query(name); }
  void release() noexcept override {
    in_call("release-backend");
    honest_->release();
    delete this;
  }

 private:
  Backend* honest_;
};

Status probe(DeviceList* devices) noexcept {
  in_call("probe");
  return bad::probe_honest(devices);
}

Status create(Backend** backend) noexcept {
  return guarded([&] { *backend = new HostileBackend(bad::make_honest()); });
}

struct AtLoad {
  AtLoad() { in_call("load"); }
};
[[maybe_unused]] const AtLoad kAtLoad;

}  // namespace

LLOYD_EXPORT_BAD_PLUGIN(&probe, &create);
