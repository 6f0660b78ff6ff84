#include "interrupt.hpp"

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

}  // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
}

bool interrupted() noexcept {
  return flag;
}

}  // namespace lloyd::apps
