#include "process/end_by_signal.hpp"

#include <signal.h>
#include <unistd.h>

namespace lloyd::apps {

void end_by_signal(int signal) noexcept {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::_exit(128 + signal);
}

}  // namespace lloyd::apps
