#include "interrupt.hpp"

#include <csignal>

namespace lloyd::apps {
namespace {

volatile std::sig_atomic_t flag = 0;

void handle(int signal) {
  flag = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
}

bool interrupted() noexcept {
  return flag != 0;
}

}  // namespace lloyd::apps
