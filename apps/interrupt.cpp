#include "interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace lloyd::apps {
namespace {

// Read by the threads of a backend too.
std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void handle(int signal) {
  flag = true;
  std::signal(signal, SIG_DFL);
}

// Memory-mapped data cannot be read any more.
void data_is_gone(int) {
  constexpr char kText[] = "lloyd: a data file was cut while it was in use\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText, sizeof(kText) - 1);
  ::_exit(1);
}

}  // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
  std::signal(SIGHUP, handle);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no more is an error of its writer
  std::signal(SIGBUS, data_is_gone);
}

bool interrupted() noexcept {
  return flag;
}

}  // namespace lloyd::apps
