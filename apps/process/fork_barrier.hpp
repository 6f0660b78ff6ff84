// ForkBarrier: one process makes a call, and one process comes back.
#pragma once

#include <unistd.h>

namespace lloyd::apps {

/// Surrounds a call of a plugin. A plugin may fork and, where the new process fails to start
/// another program, return in both processes. The new one ends here: it would otherwise go on with
/// the command and give its results a second time.
class ForkBarrier {
 public:
  ForkBarrier() = default;
  ~ForkBarrier() { check(); }
  ForkBarrier(const ForkBarrier&) = delete;
  ForkBarrier& operator=(const ForkBarrier&) = delete;

  /// Ends the process if it is not the one that made this object.
  void check() const {
    if (::getpid() != process_) ::_exit(1);
  }

 private:
  pid_t process_ = ::getpid();
};

}  // namespace lloyd::apps
