#include "interrupt.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>

#include <lloyd/data/backing_file.hpp>
#include <lloyd/data/new_file.hpp>

#include "end_by_signal.hpp"
#include "exit_status.hpp"
#include "supervision.hpp"

namespace lloyd::apps {
namespace {

// Read by the threads of a backend too.
std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

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

// The descriptor that an InterruptiblePrint writes to, and one of /dev/null. Negative: none.
std::atomic<int> print_target{-1};
std::atomic<int> null_device{-1};
std::atomic<bool> print_abandoned{false};
static_assert(std::atomic<int>::is_always_lock_free);

// The first request to stop. A write that waits for its reader is begun again after the handler,
// and then ends at once.
void request_stop() {
  flag = true;
  if (print_target >= 0 && ::dup2(null_device, print_target) >= 0) print_abandoned = true;
}

// A handler.
[[noreturn]] void end_by(int signal) {
  remove_temporary_files();
  end_by_signal(signal);
}

void handle(int signal) {
  // The time decides which signal is the first: where the flag did, another thread's could come
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

void write_error(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// A file name, with '?' for what a terminal may not be sent. A handler has no memory to decode
// UTF-8 in.
void write_error_name(const char* name) {
  for (; *name != '\0'; ++name) {
    const bool ascii = *name >= 0x20 && *name < 0x7f;
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, ascii ? name : "?", 1);
  }
}

// What stands behind mapped memory is gone.
void report_bus_error(int, siginfo_t* info, void*) {
  remove_temporary_files();
  write_error("lloyd: ");
  if (const char* const file = mapped_file_at(info->si_addr)) {
    write_error_name(file);
    write_error(": the file was cut, or its disk failed, while it was in use\n");
    report_end(kBadInput);  // no plugin is to blame
    ::_exit(kBadInput);
  } else {
    write_error("a bus error: what stands behind mapped memory is gone, or /dev/shm is full\n");
  }
  ::_exit(1);
}

void handle_file_errors() {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no more is an error of its writer
  struct sigaction action {};
  action.sa_sigaction = report_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
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

bool interrupted() noexcept {
  return flag;
}

InterruptiblePrint::InterruptiblePrint(int descriptor)
    : nothing_(::open("/dev/null", O_WRONLY | O_CLOEXEC)) {
  if (!nothing_) return;
  print_abandoned = false;
  null_device = nothing_.get();
  print_target = descriptor;
}

InterruptiblePrint::~InterruptiblePrint() {
  print_target = -1;
}

bool InterruptiblePrint::abandoned() const noexcept {
  return print_abandoned;
}

}  // namespace lloyd::apps
