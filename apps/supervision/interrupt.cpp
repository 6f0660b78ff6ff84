#include "supervision/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>

#include <lloyd/data/backing_file.hpp>
#include <lloyd/data/library_use.hpp>
#include <lloyd/data/new_file.hpp>

#include "ipc/shared_memory.hpp"
#include "process/end_by_signal.hpp"
#include "process/exit_status.hpp"
#include "supervision/supervision.hpp"

namespace lloyd::apps {
namespace {

// One request may arrive as two signals: timeout(1) signals its child and then the child's group.
constexpr std::time_t kSecondsOfOneRequest = 1;
std::atomic<std::time_t> first_at{0};  // now() of the first signal; 0: none
static_assert(std::atomic<std::time_t>::is_always_lock_free);

// Monotonic seconds, at least 1. Async-signal-safe.
std::time_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1;
}

void write_error(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// Ends the process with a message about the file, which blames no plugin. Async-signal-safe.
[[noreturn]] void end_by_file(const char* file, const char* reason, int status = kBadInput) {
  remove_temporary_files();
  write_error("lloyd: ");
  write_error(file);
  write_error(reason);
  report_own_end(status);
  ::_exit(status);
}

// Ends the process if the crash happened while a library was reading or writing a file.
void report_library_crash() {
  if (const char* const file = file_used_by_library(FileUse::reading)) {
    end_by_file(file, ": the library that reads the file crashed; the file may be damaged\n");
  }
  if (const char* const file = file_used_by_library(FileUse::writing)) {
    end_by_file(file, ": the library that writes the file crashed; memory may be short\n", kFailed);
  }
}

[[noreturn]] void end_by(int signal) {
  if (signal == SIGABRT) report_library_crash();
  remove_temporary_files();
  end_by_signal(signal);
}

void handle(int signal) {
  // The first signal is decided by the exchange of the time, not by the stop flag: with the flag, a
  // handler on another thread could see the flag before the time is stored.
  std::time_t first = 0;
  if (first_at.compare_exchange_strong(first, now())) {
    request_stop();
  } else if (now() - first > kSecondsOfOneRequest) {
    end_by(signal);
  }
}

// The process whose SIGTERM is a request; 0: none.
std::atomic<pid_t> asker{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);

void handle_of_asker(int signal, siginfo_t* info, void*) {
  if (info->si_code == SI_USER && info->si_pid == asker) {
    request_stop();
  } else {
    end_by(signal);
  }
}

// SIGBUS: the storage behind mapped memory is gone.
void report_bus_error(int, siginfo_t* info, void*) {
  if (const char* const file = mapped_file_at(info->si_addr)) {
    end_by_file(file, ": the file was cut, or its disk failed, while it was in use\n");
  }
  report_library_crash();
  remove_temporary_files();
  write_error("lloyd: a bus error: a mapped file was truncated, or /dev/shm is full\n");
  ::_exit(1);
}

constexpr std::array<int, 2> kFaults = {SIGSEGV, SIGFPE};
std::array<struct sigaction, kFaults.size()> former_actions;

// Samples that are mapped from a file or shared with the process of a worker are read-only.
bool is_write_to_samples(int signal, const siginfo_t& info) {
  return signal == SIGSEGV && info.si_code == SEGV_ACCERR &&
         (mapped_file_at(info.si_addr) != nullptr || is_shared_memory(info.si_addr));
}

// If no file is to blame, the fault ends the process as it would have without this handler: the
// former action is restored and the faulting instruction is executed again (a sent signal is raised
// again).
void report_fault(int signal, siginfo_t* info, void*) {
  const bool sent = info->si_code <= 0;
  if (!sent) report_library_crash();
  if (is_write_to_samples(signal, *info)) {
    report_reason("the plugin wrote to the samples, which it may only read");
  }
  const auto fault = std::find(kFaults.begin(), kFaults.end(), signal) - kFaults.begin();
  ::sigaction(signal, &former_actions[static_cast<std::size_t>(fault)], nullptr);
  if (sent) ::raise(signal);
}

void handle_file_errors() {
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit becomes EFBIG of write(2)
  struct sigaction action {};
  action.sa_sigaction = report_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
  action.sa_sigaction = report_fault;
  action.sa_flags |= SA_ONSTACK;  // sanitizers install an alternate stack to report stack overflows
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    struct sigaction former {};
    ::sigaction(kFaults[i], &action, &former);
    if (former.sa_sigaction != report_fault) former_actions[i] = former;
  }
}

// A signal ignored at start stays ignored, e.g. SIGHUP under nohup(1).
void set_unless_ignored(int signal, void (*handler)(int)) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  if (action.sa_handler != SIG_IGN) std::signal(signal, handler);
}

}  // namespace

void install_cleanup_handler() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGPIPE, SIGALRM, SIGVTALRM,
                           SIGPROF, SIGUSR1, SIGUSR2, SIGIO, SIGPWR, SIGXCPU}) {
    set_unless_ignored(signal, end_by);
  }
  handle_file_errors();
}

void install_interrupt_handler() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) set_unless_ignored(signal, handle);
  handle_file_errors();
}

void install_interrupt_handler_of(pid_t only) {
  asker = only;
  struct sigaction action {};
  action.sa_sigaction = handle_of_asker;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
  handle_file_errors();
}

}  // namespace lloyd::apps
