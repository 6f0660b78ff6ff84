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
#include <lloyd/data/library_read.hpp>
#include <lloyd/data/new_file.hpp>

#include "process/end_by_signal.hpp"
#include "process/exit_status.hpp"
#include "supervision/supervision.hpp"

namespace lloyd::apps {
namespace {

// What asks once may send twice: timeout(1) signals its child, and then the child's whole group.
constexpr std::time_t kSecondsOfOneRequest = 1;
std::atomic<std::time_t> first_at{0};  // as now(); 0: there was none
static_assert(std::atomic<std::time_t>::is_always_lock_free);

// Monotonic seconds, from 1.
std::time_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1;
}

void write_error(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// For handlers: ends the process and blames a file, not a plugin.
[[noreturn]] void end_by_file(const char* file, const char* reason) {
  remove_temporary_files();
  write_error("lloyd: ");
  write_error(file);
  write_error(reason);
  report_own_end(kBadInput);
  ::_exit(kBadInput);
}

// Ends the process if a library crashed while it read a file; otherwise does nothing.
void report_library_crash() {
  if (const char* const file = file_read_by_library()) {
    end_by_file(file, ": the library that reads the file crashed; the file may be damaged\n");
  }
}

// A handler.
[[noreturn]] void end_by(int signal) {
  if (signal == SIGABRT) report_library_crash();
  remove_temporary_files();
  end_by_signal(signal);
}

void handle(int signal) {
  // The time decides which signal is the first: if the flag did, another thread's could come
  // before the time was there.
  std::time_t first = 0;
  if (first_at.compare_exchange_strong(first, now())) {
    request_stop();
  } else if (now() - first > kSecondsOfOneRequest) {
    end_by(signal);
  }
}

// 0: nobody.
std::atomic<pid_t> asker{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);

void handle_of_asker(int signal, siginfo_t* info, void*) {
  if (info->si_code == SI_USER && info->si_pid == asker) {
    request_stop();
  } else {
    end_by(signal);
  }
}

// What stands behind mapped memory is gone.
void report_bus_error(int, siginfo_t* info, void*) {
  if (const char* const file = mapped_file_at(info->si_addr)) {
    end_by_file(file, ": the file was cut, or its disk failed, while it was in use\n");
  }
  report_library_crash();
  remove_temporary_files();
  write_error(
      "lloyd: a bus error: what stands behind mapped memory is gone, or /dev/shm is full\n");
  ::_exit(1);
}

constexpr std::array<int, 2> kFaults = {SIGSEGV, SIGFPE};
std::array<struct sigaction, kFaults.size()> former_actions;

// A fault that no file is to blame for ends the process as it would have without this handler: the
// instruction is executed again, with the former action in force.
void report_fault(int signal, siginfo_t* info, void*) {
  const bool sent = info->si_code <= 0;
  if (!sent) report_library_crash();
  const auto fault = std::find(kFaults.begin(), kFaults.end(), signal) - kFaults.begin();
  ::sigaction(signal, &former_actions[static_cast<std::size_t>(fault)], nullptr);
  if (sent) ::raise(signal);
}

void handle_file_errors() {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no more is an error of its writer
  struct sigaction action {};
  action.sa_sigaction = report_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
  action.sa_sigaction = report_fault;
  action.sa_flags |= SA_ONSTACK;  // of a sanitizer, which has it for a stack that overflows
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    struct sigaction former {};
    ::sigaction(kFaults[i], &action, &former);
    if (former.sa_sigaction != report_fault) former_actions[i] = former;
  }
}

// What starts the program may have it ignore signals: it is to outlive a terminal, for example.
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
